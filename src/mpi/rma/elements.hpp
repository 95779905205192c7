// MPI's predefined datatypes and operations as rma knows them.
#pragma once

#include "mpi/native/native.hpp"
#include "rma/record.hpp"

namespace isthmus::face {

/// The elements of a datatype: they must be of one predefined datatype. Throws MpiError with
/// MPI_ERR_TYPE if they are of several.
rma::Element element_of(MPI_Datatype type);

/// Throws MpiError with MPI_ERR_OP for an operation of the program's own, and for one that
/// does not go with the datatype, unless the count is zero.
rma::Combination combination_of(MPI_Op op, MPI_Count count, MPI_Datatype type);

}  // namespace isthmus::face
