#include "file/view.hpp"

#include <algorithm>
#include <limits>

namespace isthmus::file {

core::TypeCursor View::pieces(std::int64_t position) const {
  return {filetype, std::numeric_limits<std::int64_t>::max(), position};
}

std::int64_t View::offset_of(std::int64_t position) const {
  return displacement + pieces(position).next(1).offset;
}

std::int64_t View::seen_before(std::int64_t offset) const {
  const std::int64_t from = offset - displacement;
  if (filetype.size() == 0 || filetype.extent() <= 0 || from <= filetype.true_lower()) return 0;
  // All of a tile lies before the next one: filetypes grow monotonically.
  std::int64_t seen = 0;
  if (from >= filetype.true_upper()) {
    seen = ((from - filetype.true_upper()) / filetype.extent() + 1) * filetype.size();
  }
  core::TypeCursor cursor = pieces(seen);
  for (;;) {
    const core::Piece piece = cursor.next(std::numeric_limits<std::int64_t>::max());
    if (piece.length == 0 || piece.offset >= from) return seen;
    seen += std::min(piece.length, from - piece.offset);
  }
}

std::int64_t View::first_at(std::int64_t offset, std::int64_t from, std::int64_t to) const {
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (offset_of(middle) >= offset) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

core::TypeMap::Bounds View::range(std::int64_t position, std::int64_t length) const {
  if (length <= 0 || filetype.size() == 0) return {};
  const std::int64_t tiles = filetype.extent();
  if (ascends()) {
    // Monotonic: the first byte is the lowest, the last the highest.
    return {offset_of(position), offset_of(position + length - 1) + 1};
  }
  // Each tile begins within the one before it.
  const std::int64_t first = position / filetype.size() * tiles;
  const std::int64_t last = (position + length - 1) / filetype.size() * tiles;
  return {displacement + filetype.true_lower() + std::min(first, last),
          displacement + filetype.true_upper() + std::max(first, last)};
}

}  // namespace isthmus::file
