#include "rma/exposed.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace isthmus::rma {
namespace {

// The pieces of an area may be exposed although the whole is not: gaps are not accessed. If one is
// on a device, all are in the same region.
std::byte* find_pieces(const Memory& memory, const Area& area, const core::TypeMap& map,
                       const std::byte*& device) {
  core::TypeCursor cursor(map, area.count, static_cast<std::int64_t>(area.position));
  bool first = true;
  auto left = static_cast<std::int64_t>(area.size);
  while (left > 0) {
    const core::Piece piece = cursor.next(left);
    const std::int64_t end = piece.offset + piece.length;
    if (piece.length == 0 || memory.find(area.displacement, piece.offset, end) == nullptr) {
      return nullptr;
    }
    const std::byte* const on = memory.device(area.displacement, piece.offset);
    if (!std::exchange(first, false) && on != device) return nullptr;
    device = on;
    left -= piece.length;
  }
  return memory.find(area.displacement, 0, 0);
}

}  // namespace

std::optional<Spot> find_exposed(const Memory& memory, std::span<const core::TypeMap> maps,
                                 const Area& area, const Element* element) {
  Spot spot;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 512);
  if (area.size > kMost) return std::nullopt;
  if (element != nullptr && area.size % element->packed() != 0) return std::nullopt;
  std::int64_t low = 0, high = static_cast<std::int64_t>(area.size);
  if (area.map != 0) {
    if (area.map > maps.size() || area.count < 0) return std::nullopt;
    spot.map = &maps[area.map - 1];
    const auto bounds = spot.map->bounds(area.count);
    if (!bounds) return std::nullopt;
    if (element != nullptr && area.position % element->packed() != 0) return std::nullopt;
    const core::TypeCursor all(*spot.map, area.count);
    const auto total = static_cast<std::uint64_t>(all.total());
    if (area.position > total || area.size > total - area.position) return std::nullopt;
    low = bounds->low;
    high = bounds->high;
  } else if (element != nullptr && !element->gapless()) {
    // The last element may end before its extent does.
    const std::uint64_t count = area.size / element->packed();
    high = count == 0 ? 0
                      : static_cast<std::int64_t>((count - 1) * element->extent +
                                                  element->index_offset + element->index_size);
  }
  spot.memory = memory.find(area.displacement, low, high);
  if (spot.memory != nullptr) {
    if (low < high) spot.device = memory.device(area.displacement, low);
  } else if (spot.map != nullptr) {
    spot.memory = find_pieces(memory, area, *spot.map, spot.device);
  }
  return spot;
}

}  // namespace isthmus::rma
