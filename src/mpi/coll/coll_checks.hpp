// Checks of the arguments of collectives; each throws coll::Failure with the standard's class.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/datatype/long_double.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

inline void check_root(const GridComm& comm, int root) {
  require(root >= 0 && root < comm.size, MPI_ERR_ROOT,
          "the root is not a rank of the communicator");
}

inline void check_type(const GridComm& comm, MPI_Datatype type) {
  require(type != MPI_DATATYPE_NULL, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  check_long_double(comm, type);
}

inline void check_data(const GridComm& comm, MPI_Count count, MPI_Datatype type) {
  require(count >= 0, MPI_ERR_COUNT, "a count is negative");
  check_type(comm, type);
}

template <class Count>
void check_counts(const GridComm& comm, const Count* counts) {
  require(counts != nullptr, MPI_ERR_ARG, "the counts are a null pointer");
  for (int r = 0; r < comm.size; ++r) require(counts[r] >= 0, MPI_ERR_COUNT, "a count is negative");
}

template <class Count, class Place>
void check_blocks(const GridComm& comm, const Count* counts, const Place* places,
                  MPI_Datatype type) {
  check_counts(comm, counts);
  require(places != nullptr, MPI_ERR_ARG, "the displacements are a null pointer");
  check_type(comm, type);
}

inline void check_not_in_place(const void* buffer) {
  require(buffer != MPI_IN_PLACE, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
}

}  // namespace isthmus::face
