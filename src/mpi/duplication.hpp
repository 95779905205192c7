// MPI_Comm_idup under way.
#pragma once

#include <memory>

#include "mpi/comm.hpp"
#include "mpi/native.hpp"
#include "mpi/request.hpp"

namespace isthmus::face {

/// An operation that ends when the native duplication `copied` (of `comm`, the handle of `parent`,
/// giving `result`) has ended and `result` is a grid communicator.
std::unique_ptr<Operation> duplication(const GridCommRef& parent, MPI_Comm comm, MPI_Comm result,
                                       MPI_Request copied);

}  // namespace isthmus::face
