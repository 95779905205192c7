// Type maps of the program's datatypes, worked out from how they were made.
#pragma once

#include <cstdint>
#include <memory>

#include "core/datatype/type_map.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

using TypeMapRef = std::shared_ptr<const core::TypeMap>;

/// The map of a datatype, in bytes of this process's memory. Kept until datatypes are freed, so
/// that the next call is cheap. Program's threads only. Throws MpiError with MPI_ERR_TYPE for
/// an invalid handle, and for a datatype with more parts than a map may have.
TypeMapRef map_of(MPI_Datatype type);

/// The layout of a basic datatype, in memory or in a file of another representation.
class BasicSizes {
 public:
  virtual ~BasicSizes() = default;
  /// The bytes of an element of a predefined datatype whose own are `size`.
  virtual std::int64_t size(MPI_Datatype type, std::int64_t size) const = 0;
};
/// The map of the same elements with other sizes. Displacements of the datatype in bytes stay
/// bytes; those in elements count the other sizes.
core::TypeMap map_with(MPI_Datatype type, const BasicSizes& sizes);

/// Gives the value of core::Piece::element for a basic element of `size` bytes (one half of a
/// complex number).
using ElementOf = int (*)(MPI_Datatype type, int size);
/// The map of a datatype as map_of, with the predefined datatypes of its pieces.
core::TypeMap map_telling(MPI_Datatype type, ElementOf element);

/// The predefined datatype of all elements of `type`; MPI_DATATYPE_NULL if they are of several.
MPI_Datatype only_basic(MPI_Datatype type);

}  // namespace isthmus::face
