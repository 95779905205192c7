// A process's view of a file (MPI-4.1 section 14.3): from a displacement on, the bytes of a
// filetype, again and again. Pure.
#pragma once

#include <cstdint>

#include "core/datatype/type_map.hpp"

namespace isthmus::file {

struct View {
  std::int64_t displacement = 0;
  core::TypeMap filetype = core::TypeMap::basic(1, 1);

  /// The pieces from byte `position` of the view on; their offsets count from the displacement.
  core::TypeCursor pieces(std::int64_t position) const;
  /// The place of the view's byte `position` in the file.
  std::int64_t offset_of(std::int64_t position) const;
  /// The number of the view's bytes before `offset`, an offset in the file.
  std::int64_t seen_before(std::int64_t offset) const;
  /// The view's first byte in [from, to) that lies at `offset` in the file or behind it; `to`
  /// without one. For a view that ascends.
  std::int64_t first_at(std::int64_t offset, std::int64_t from, std::int64_t to) const;
  /// Each byte lies behind those before it, as filetypes grow: no tile begins within another.
  bool ascends() const {
    return filetype.extent() >= filetype.true_upper() - filetype.true_lower();
  }
  /// The bytes of the file that `length` seen bytes lie between.
  core::TypeMap::Bounds range(std::int64_t position, std::int64_t length) const;
};

}  // namespace isthmus::file
