// The effect of accumulates on a window's memory: by the target, or by an origin that has it
// mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/datatype/type_map.hpp"
#include "rma/record.hpp"
#include "rma/turn.hpp"

namespace isthmus::rma {

/// Elements in a window's memory.
struct Elements {
  std::byte* memory = nullptr;         ///< the origin of the map's offsets
  const core::TypeMap* map = nullptr;  ///< null: elements in a row
  std::int64_t count = 0;              ///< of the map
  std::int64_t position = 0;           ///< packed, of the first byte
  std::size_t size = 0;                ///< packed bytes
};

/// Combines `data` into them; empty data changes nothing. `before` gets the old values, packed, if
/// it is not empty. Each element is read and changed in one turn; null: the caller is alone. False:
/// the map does not consist of such elements, and some may have been changed.
[[nodiscard]] bool combine_there(const Elements& there, const Combination& how,
                                 std::span<const std::byte> data, std::span<std::byte> before,
                                 Turn* turn);

/// One element: all three are of its size. `before` may be the memory of neither of the others.
void swap_there(std::byte* memory, std::span<const std::byte> expected,
                std::span<const std::byte> wanted, std::span<std::byte> before, Turn* turn);

}  // namespace isthmus::rma
