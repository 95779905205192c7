// Checks of the arguments of collectives; each throws MpiError with the standard's class.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

inline void check_root(const GridComm& comm, int root) {
  require(root >= 0 && root < comm.size, MPI_ERR_ROOT,
          "the root is not a rank of the communicator");
}

/// Whether this process is the root. In an intercommunicator, MPI_ROOT marks it.
inline bool is_root(const GridComm& comm, int root) {
  return comm.inter ? root == MPI_ROOT : root == comm.rank;
}

/// Whether this process contributes to a gather or takes from a scatter: all do but, between two
/// sides, those on the root's.
inline bool is_remote_to(const GridComm& comm, int root) { return !comm.inter || root >= 0; }
/// Whether it has a part at all in a collective with a root.
inline bool has_part(const GridComm& comm, int root) {
  return !comm.inter || root != MPI_PROC_NULL;
}

inline void check_type(const GridComm& comm, MPI_Datatype type) {
  require(type != MPI_DATATYPE_NULL, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  check_passes(comm, type);
}

inline void check_data(const GridComm& comm, MPI_Count count, MPI_Datatype type) {
  require(count >= 0, MPI_ERR_COUNT, "a count is negative");
  check_type(comm, type);
}

template <class Count>
void check_counts(int blocks, const Count* counts) {
  require(blocks == 0 || counts != nullptr, MPI_ERR_ARG, "the counts are a null pointer");
  for (int b = 0; b < blocks; ++b) require(counts[b] >= 0, MPI_ERR_COUNT, "a count is negative");
}

/// Blocks at displacements, of one datatype.
template <class Count, class Place>
void check_blocks(const GridComm& comm, int blocks, const Count* counts, const Place* places,
                  MPI_Datatype type) {
  check_counts(blocks, counts);
  require(blocks == 0 || places != nullptr, MPI_ERR_ARG, "the displacements are a null pointer");
  check_type(comm, type);
}

/// Blocks at displacements, each of its own datatype.
template <class Count, class Place>
void check_typed_blocks(const GridComm& comm, int blocks, const Count* counts, const Place* places,
                        const MPI_Datatype* types) {
  check_counts(blocks, counts);
  require(blocks == 0 || places != nullptr, MPI_ERR_ARG, "the displacements are a null pointer");
  require(blocks == 0 || types != nullptr, MPI_ERR_ARG, "the datatypes are a null pointer");
  for (int b = 0; b < blocks; ++b) {
    if (counts[b] != 0) check_type(comm, types[b]);
  }
}

/// MPI forbids a send buffer that is the receive buffer, but programs do that. MPICH refuses it
/// if it sees it. Open MPI mostly computes what MPI_IN_PLACE would give, and Isthmus does always.
/// Data at MPI_BOTTOM has its addresses in the datatypes, so it does not count.
inline bool are_one(const void* sent, const void* received) {
  return sent == received && sent != MPI_BOTTOM;
}
inline void check_not_one([[maybe_unused]] const void* sent,
                          [[maybe_unused]] const void* received) {
#ifndef OPEN_MPI
  require(!are_one(sent, received), MPI_ERR_BUFFER,
          "the send buffer is the receive buffer: give MPI_IN_PLACE instead");
#endif
}

inline void check_not_in_place(const void* buffer) {
  require(buffer != MPI_IN_PLACE, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
}

}  // namespace isthmus::face
