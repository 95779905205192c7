// Which operations go with which datatypes.
#pragma once

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Throws MpiError with MPI_ERR_OP for MPI_OP_NULL, and for a predefined operation that the
/// native library does not combine with the datatype. It does so on every rank, before anything is
/// sent. `type` is valid.
void check_op(MPI_Op op, MPI_Datatype type);

}  // namespace isthmus::face
