// Elements of an area, found in the order of its packed bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/datatype/type_map.hpp"
#include "rma/element.hpp"

namespace isthmus::rma {

/// Calls `use(memory, packed, count)` for elements that lie in a row, from `position` of a map on.
/// False: the map does not consist of such elements.
template <class Use>
bool each_run(const core::TypeMap& map, std::int64_t count, std::int64_t position, std::size_t size,
              std::byte* memory, const Element& element, Use&& use) {
  core::TypeCursor cursor(map, count, position);
  const auto packed = static_cast<std::int64_t>(element.packed());
  const auto next_of = [&](std::int64_t most) -> std::optional<std::byte*> {
    const core::Piece piece = cursor.next(most);
    if (piece.length != most) return std::nullopt;
    return memory + piece.offset;
  };
  for (std::size_t at = 0; at < size;) {
    if (element.gapless() && !element.pair) {
      const auto most = static_cast<std::int64_t>(size - at);
      const core::Piece piece = cursor.next(most);
      if (piece.length <= 0 || piece.length % packed != 0) return false;
      use(memory + piece.offset, at, static_cast<std::size_t>(piece.length / packed));
      at += static_cast<std::size_t>(piece.length);
    } else {
      const auto value = next_of(element.value_size);
      const auto index = next_of(element.index_size);
      if (!value || !index || *index != *value + element.index_offset) return false;
      use(*value, at, 1);
      at += element.packed();
    }
  }
  return true;
}

}  // namespace isthmus::rma
