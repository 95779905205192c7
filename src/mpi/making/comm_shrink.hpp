// The communicator of the members that are left.
#pragma once

#include <functional>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// MPIX_Comm_shrink: a communicator of the living members, in the order of their ranks. They agree
/// on these, and on whether all could make their parts. Returns an MPI error code (raised) or
/// throws.
int shrink(const GridCommRef& comm, MPI_Comm* newcomm);

/// Hands the program its handle.
using GiveComm = std::function<void(MPI_Comm)>;
/// The same while the program does other things. It waits before it returns if other members are in
/// this cluster, since all of them make their native part together, and for an intercommunicator.
int shrink_later(const GridCommRef& comm, GiveComm give, MPI_Request* request);

}  // namespace isthmus::face
