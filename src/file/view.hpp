// What a process sees of a file (MPI-4.1 section 14.3): from a displacement on, the bytes that a
// filetype has, again and again. Pure.
#pragma once

#include <cstdint>

#include "core/type_map.hpp"

namespace isthmus::file {

struct View {
  std::int64_t displacement = 0;
  core::TypeMap filetype = core::TypeMap::basic(1, 1);

  /// The pieces from byte `position` of what is seen on; their offsets count from the displacement.
  core::TypeCursor pieces(std::int64_t position) const;
  /// Where in the file byte `position` of what is seen is.
  std::int64_t offset_of(std::int64_t position) const;
  /// How many bytes are seen before `offset`, an offset in the file.
  std::int64_t seen_before(std::int64_t offset) const;
  /// The bytes of the file that `length` seen bytes lie between.
  core::TypeMap::Bounds range(std::int64_t position, std::int64_t length) const;
};

}  // namespace isthmus::file
