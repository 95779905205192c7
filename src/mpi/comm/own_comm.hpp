// Communicators of this process alone, such as MPI_COMM_SELF. They are native. But in a run whose
// clusters may fail, the program can revoke them, and that ends messages which have begun. So their
// messages begin as those on a grid communicator do.
#pragma once

#include "mpi/comm/lookup.hpp"
#include "mpi/comm/survival.hpp"

namespace isthmus::face {

/// The grid communicator that stands for a native one of this process alone, made at the first
/// call. It is in the table only once it is revoked. Null for all others, in runs that do not
/// survive, and if it cannot be made.
GridComm* own_comm(MPI_Comm comm) noexcept;
/// Has the handle lead to it, if it does not yet. Null as own_comm. Throws bad_alloc.
GridCommRef enter_own(MPI_Comm comm);
/// As share_comm, and also finds what own_comm has made.
GridCommRef share_with_own(MPI_Comm handle);
/// The handle has been freed.
void forget_own(MPI_Comm handle);

/// The grid communicator by which messages of a call of the program go; null if they are for the
/// native library.
inline GridComm* message_comm(MPI_Comm comm) {
  if (native_call()) return nullptr;
  GridComm* const found = find_comm(comm);
  return found != nullptr || !may_lose() ? found : own_comm(comm);
}
/// Where MPI_ANY_SOURCE can be one rank only, it is that rank.
inline int only_source(const GridComm* comm, int source) {
  const bool only = comm != nullptr && comm->size == 1 && comm->inter == nullptr;
  return only && source == MPI_ANY_SOURCE ? 0 : source;
}

}  // namespace isthmus::face
