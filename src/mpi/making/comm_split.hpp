// Splitting a grid communicator, which is also how MPI_Comm_create and the Cartesian functions
// make theirs.
#pragma once

#include <optional>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// MPI_Comm_split, giving the result a topology. `colour` is not negative, or MPI_UNDEFINED; `cart`
/// is the same on all members of a side. Returns an MPI error code (raised) or throws.
int split(const GridCommRef& parent, int colour, int key, const std::optional<CartTopology>& cart,
          MPI_Comm* result);

}  // namespace isthmus::face
