// The last steps of making intercommunicators.
#pragma once

#include <cstdint>

#include "mpi/comm/inter.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Turns `native_part`, the native communicator of both sides' members in my cluster in the order
/// of Sides::whole(), into their intercommunicator. It is native if all are in one cluster.
/// Otherwise as finish_comm.
int finish_intercomm(const Sides& sides, std::uint64_t context, MPI_Comm native_part,
                     const SessionRef& session, MPI_Comm* result);

/// The native communicator of those members of `group` that are in my cluster, in its order, with
/// the error handler of `model`. Only they call it, with a context that they share; `session` is
/// null for all or none. Returns a native error code.
int native_part_of(const core::Group& group, std::uint64_t context, MPI_Comm model,
                   const SessionRef& session, MPI_Comm* result);

/// MPI_Intercomm_create; `session`: that `local_comm` comes from, or null.
int create_intercomm(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                     int tag, const SessionRef& session, MPI_Comm* newintercomm);

/// The group of an intracommunicator, native or of the grid.
core::Group group_of_comm(MPI_Comm comm);

}  // namespace isthmus::face
