#include "file/access.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isthmus::file {
namespace {

// One read of several small pieces and the bytes between them costs less than many reads. A call
// costs about as much as copying 4 KiB (2026-11).
constexpr std::int64_t kGap = 4096;
constexpr std::int64_t kSieve = 512 * 1024;

/// A run of pieces that is worth one read: from the first to the end of the last.
struct Stretch {
  std::vector<core::Piece> pieces;
  std::int64_t low = 0, high = 0;

  bool takes(const core::Piece& piece) const {
    return pieces.empty() || (piece.offset >= high && piece.offset - high <= kGap &&
                              piece.offset + piece.length - low <= kSieve);
  }
  void add(const core::Piece& piece) {
    if (pieces.empty()) low = piece.offset;
    high = piece.offset + piece.length;
    pieces.push_back(piece);
  }
};

/// Bytes of the stretch that were there, in the pieces' order.
std::size_t read_stretch(Storage& file, std::int64_t base, const Stretch& stretch,
                         std::span<std::byte> to, std::vector<std::byte>& scratch) {
  if (stretch.pieces.size() == 1) {
    const auto length = static_cast<std::size_t>(stretch.pieces[0].length);
    return file.read(base + stretch.low, to.first(length));
  }
  scratch.resize(static_cast<std::size_t>(stretch.high - stretch.low));
  const auto got = static_cast<std::int64_t>(file.read(base + stretch.low, scratch));
  std::size_t done = 0;
  for (const core::Piece& piece : stretch.pieces) {
    const std::int64_t at = piece.offset - stretch.low;
    const std::int64_t there = std::clamp<std::int64_t>(got - at, 0, piece.length);
    if (there > 0) {
      std::memcpy(to.data() + done, scratch.data() + at, static_cast<std::size_t>(there));
    }
    done += static_cast<std::size_t>(there);
    if (there < piece.length) break;
  }
  return done;
}

/// The next piece, with those that follow it without a gap.
core::Piece next_run(core::TypeCursor& cursor, std::int64_t most, core::Piece& ahead) {
  core::Piece run = ahead.length > 0 ? ahead : cursor.next(most);
  ahead = {};
  while (run.length < most) {
    const core::Piece more = cursor.next(most - run.length);
    if (more.length == 0) break;
    if (more.offset != run.offset + run.length) {
      ahead = more;
      break;
    }
    run.length += more.length;
  }
  return run;
}

}  // namespace

std::size_t read_seen(Storage& file, const View& view, std::int64_t position,
                      std::span<std::byte> to) {
  core::TypeCursor cursor = view.pieces(position);
  core::Piece ahead;
  std::vector<std::byte> scratch;
  std::size_t done = 0, asked = 0;
  Stretch stretch;
  const auto flush = [&] {
    const std::size_t wanted = asked - done;
    const std::size_t got =
        read_stretch(file, view.displacement, stretch, to.subspan(done, wanted), scratch);
    done += got;
    stretch = {};
    return got == wanted;
  };
  while (asked < to.size()) {
    const core::Piece run = next_run(cursor, static_cast<std::int64_t>(to.size() - asked), ahead);
    if (run.length == 0) break;
    if (!stretch.takes(run) && !flush()) return done;
    stretch.add(run);
    asked += static_cast<std::size_t>(run.length);
  }
  if (!stretch.pieces.empty()) flush();
  return done;
}

void write_seen(Storage& file, const View& view, std::int64_t position,
                std::span<const std::byte> from) {
  core::TypeCursor cursor = view.pieces(position);
  core::Piece ahead;
  std::size_t done = 0;
  while (done < from.size()) {
    const core::Piece run = next_run(cursor, static_cast<std::int64_t>(from.size() - done), ahead);
    if (run.length == 0) break;
    const auto length = static_cast<std::size_t>(run.length);
    file.write(view.displacement + run.offset, from.subspan(done, length));
    done += length;
  }
}

}  // namespace isthmus::file
