#include "file/gather.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace isthmus::file {
namespace {

// The part of a view that is examined to judge its pieces.
constexpr int kPiecesSeen = 1024;
constexpr std::int64_t kBytesSeen = 1 << 20;

// If each member has fewer pieces, messages across a wide area take longer than calls.
constexpr std::int64_t kLeastPieces = 4096;

// Chunks begin at multiples of that, as pages and blocks of file systems do.
constexpr std::int64_t kUnit = 64 * 1024;
constexpr std::int64_t kMostChunk = 4 * 1024 * 1024;
// An aggregator gets at most a chunk of each member in a round, if they write the same places.
constexpr std::int64_t kMostReceived = 64 * 1024 * 1024;

constexpr std::size_t kBits = 64;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The range from the lowest byte of the parts to behind the highest.
core::TypeMap::Bounds range_of(std::span<const Part> parts) {
  core::TypeMap::Bounds all{std::numeric_limits<std::int64_t>::max(), 0};
  for (const Part& part : parts) {
    if (part.position == part.end) continue;
    const auto range = part.view->range(part.position, part.end - part.position);
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
  }
  return all;
}

}  // namespace

std::int64_t typical_piece(const View& view) {
  core::TypeCursor cursor = view.pieces(0);
  std::int64_t bytes = 0, end = -1;
  int pieces = 0;
  while (bytes < kBytesSeen) {
    const core::Piece piece = cursor.next(kBytesSeen - bytes);
    if (piece.length == 0) break;
    if (piece.offset != end && ++pieces > kPiecesSeen) {
      --pieces;
      break;
    }
    end = piece.offset + piece.length;
    bytes += piece.length;
  }
  return pieces == 0 ? 0 : bytes / pieces;
}

bool worth_gathering(std::span<const Part> parts, std::span<const std::int64_t> pieces) {
  std::int64_t bytes = 0, calls = 0, members = 0;
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const std::int64_t length = parts[m].end - parts[m].position;
    if (length == 0) continue;
    ++members;
    bytes += length;
    calls += length / std::max<std::int64_t>(pieces[m], 1) + 1;
  }
  if (members < 2 || calls < kLeastPieces * members || bytes / calls > kSmallPiece) return false;
  // If the gaps between the pieces are large, the pieces do not touch each other.
  const auto range = range_of(parts);
  return bytes >= (range.high - range.low) / 2;
}

Rounds::Rounds(std::vector<Part> parts, int aggregators)
    : parts_(std::move(parts)), aggregators_(aggregators) {
  const auto range = range_of(parts_);
  const std::int64_t most =
      std::clamp(kMostReceived / std::max<std::int64_t>(std::ssize(parts_), 1) / kUnit * kUnit,
                 kUnit, kMostChunk);
  const std::int64_t even =
      range.high <= range.low ? kUnit : round_up((range.high - range.low) / aggregators, kUnit);
  chunk_ = std::clamp(even, kUnit, most);
}

std::vector<Slice> Rounds::next() {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  for (const Part& part : parts_) {
    if (part.position < part.end) low = std::min(low, part.view->offset_of(part.position));
  }
  std::vector<Slice> slices;
  if (low == std::numeric_limits<std::int64_t>::max()) return slices;
  low_ = low / kUnit * kUnit;
  for (int a = 0; a < aggregators_; ++a) {
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      Part& part = parts_[m];
      if (part.position == part.end) continue;
      const std::int64_t to = part.view->first_at(chunk_of(a) + chunk_, part.position, part.end);
      if (to == part.position) continue;
      slices.push_back({a, static_cast<int>(m), part.position, to});
      part.position = to;
    }
  }
  return slices;
}

Chunk::Chunk(std::int64_t size)
    : bytes_(static_cast<std::size_t>(size)), come_((bytes_.size() + kBits - 1) / kBits) {}

void Chunk::begin(std::int64_t low) {
  low_ = low;
  std::fill(come_.begin(), come_.end(), 0);
}

void Chunk::add(const View& view, std::int64_t position, std::span<const std::byte> data) {
  core::TypeCursor cursor = view.pieces(position);
  std::size_t done = 0;
  while (done < data.size()) {
    const core::Piece piece = cursor.next(static_cast<std::int64_t>(data.size() - done));
    if (piece.length == 0) break;
    const auto at = static_cast<std::size_t>(view.displacement + piece.offset - low_);
    const auto length = static_cast<std::size_t>(piece.length);
    std::memcpy(bytes_.data() + at, data.data() + done, length);
    mark(at, at + length);
    done += length;
  }
}

void Chunk::mark(std::size_t from, std::size_t to) {
  while (from < to) {
    const std::size_t bit = from % kBits, bits = std::min(kBits - bit, to - from);
    const std::uint64_t ones = bits == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    come_[from / kBits] |= ones << bit;
    from += bits;
  }
}

std::size_t Chunk::find(std::size_t from, bool come) const {
  while (from < bytes_.size()) {
    const std::uint64_t word = come ? come_[from / kBits] : ~come_[from / kBits];
    const std::uint64_t rest = word >> (from % kBits);
    if (rest != 0)
      return std::min(from + static_cast<std::size_t>(std::countr_zero(rest)), bytes_.size());
    from = (from / kBits + 1) * kBits;
  }
  return bytes_.size();
}

void Chunk::write(Storage& file) const {
  for (std::size_t from = find(0, true); from < bytes_.size();) {
    const std::size_t to = find(from, false);
    file.write(low_ + static_cast<std::int64_t>(from), std::span(bytes_).subspan(from, to - from));
    from = find(to, true);
  }
}

}  // namespace isthmus::file
