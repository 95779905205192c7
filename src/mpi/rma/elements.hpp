// MPI's predefined datatypes and operations as rma knows them.
#pragma once

#include "mpi/native/native.hpp"
#include "rma/record.hpp"

namespace isthmus::face {

/// What a datatype consists of: elements of one predefined datatype. Throws coll::Failure with
/// MPI_ERR_TYPE where they are of several.
rma::Element element_of(MPI_Datatype type);

/// Throws coll::Failure with MPI_ERR_OP for an operation of the program's own, and for one that
/// does not go with the datatype, unless there is no data.
rma::Combination combination_of(MPI_Op op, MPI_Count count, MPI_Datatype type);

}  // namespace isthmus::face
