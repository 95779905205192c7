// Where the area that a record names lies in a window's memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/datatype/type_map.hpp"
#include "rma/memory.hpp"
#include "rma/record.hpp"

namespace isthmus::rma {

struct Spot {
  std::byte* memory = nullptr;  ///< the origin of offsets; null: not all of it is exposed
  const core::TypeMap* map = nullptr;
  const std::byte* device = nullptr;  ///< the region of a device that has all of it; null: none
};

/// `maps`: the origin's datatypes. `element`: of an accumulate, else null. The result is
/// empty if the record is wrong, whatever is exposed.
std::optional<Spot> find_exposed(const Memory& memory, std::span<const core::TypeMap> maps,
                                 const Area& area, const Element* element);

}  // namespace isthmus::rma
