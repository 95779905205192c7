// Collective writes of small pieces in two phases. The members of a file send their data to some of
// them, the aggregators. Each aggregator has chunks of the file to itself and writes them with few
// large calls. Every member knows every view, so that only the data has to travel. This file is the
// part without messages. Pure but for Chunk::write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "file/storage.hpp"
#include "file/view.hpp"

namespace isthmus::file {

/// Larger pieces are not gathered: a system call costs about as much as sending and placing this
/// many bytes (2026-11).
inline constexpr std::int64_t kSmallPiece = 1024;

/// The average size of a view's first pieces, in bytes; 0: the view is empty. Pieces without a gap
/// between them are one.
std::int64_t typical_piece(const View& view);

/// A member's data: bytes [position, end) of its view. The view ascends.
struct Part {
  const View* view = nullptr;
  std::int64_t position = 0, end = 0;
};

/// Whether two phases are worth their messages. `pieces`: the typical ones of the parts' views.
bool worth_gathering(std::span<const Part> parts, std::span<const std::int64_t> pieces);

/// Bytes [from, to) of a member's view, which are an aggregator's.
struct Slice {
  int aggregator = 0, member = 0;
  std::int64_t from = 0, to = 0;
};

/// Deals out the file to aggregators, round by round, where members have data. All members with the
/// same arguments get the same result.
class Rounds {
 public:
  Rounds(std::vector<Part> parts, int aggregators);
  /// The slices of the next round, by aggregator, then by member; empty: all is written.
  std::vector<Slice> next();
  /// For the last round: the place of the aggregator's chunk in the file.
  std::int64_t chunk_of(int aggregator) const { return low_ + aggregator * chunk_; }
  /// Bytes of a chunk.
  std::int64_t chunk() const { return chunk_; }
  const View& view_of(int member) const { return *parts_[static_cast<std::size_t>(member)].view; }

 private:
  std::vector<Part> parts_;  // the rest of them
  int aggregators_;
  std::int64_t low_ = 0, chunk_ = 0;
};

/// A chunk of a file that is being put together.
class Chunk {
 public:
  explicit Chunk(std::int64_t size);
  /// Makes it the chunk that begins there, empty.
  void begin(std::int64_t low);
  /// `data` are the view's bytes from byte `position` on, all of them within the chunk.
  void add(const View& view, std::int64_t position, std::span<const std::byte> data);
  /// Writes the added bytes, and none between them.
  void write(Storage& file) const;

 private:
  void mark(std::size_t from, std::size_t to);
  /// The first byte from `from` on that has come, or has not.
  std::size_t find(std::size_t from, bool come) const;

  std::int64_t low_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> come_;  // a bit for each byte
};

}  // namespace isthmus::file
