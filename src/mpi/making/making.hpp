// The last steps of making and unmaking communicators, shared by all functions that do.
#pragma once

#include <cstdint>
#include <mutex>

#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// True when every member is in this process's cluster.
bool within_cluster(const core::Group& group);

/// Turns `native_part`, the native communicator of my cluster's members of `group` in rank order,
/// into the communicator of the whole group. If the group lies in one cluster, that is
/// `native_part` itself (with a native topology if the group has one). Otherwise it is a grid
/// communicator with that handle. Collective over `native_part`. Owns `native_part`: on failure it
/// is freed. `session`: that it comes from; may be null. Returns an MPI error code (raised).
int finish_comm(const core::Group& group, std::uint64_t context, MPI_Comm native_part,
                const TopologyRef& topology, const SessionRef& session, MPI_Comm* result);

/// Agrees on a range of tags for the communicator of `context`, between those members that have
/// `native_part`; empty if a process is alone there. `clusters`: how many it spans. Collective over
/// `native_part`. Throws MpiError.
TagRange agree_on_tags(std::uint64_t context, int clusters, MPI_Comm native_part);
/// In how many clusters the members are.
int clusters_of(const core::Group& group);

/// The same for a communicator with the members, the topology and the session of `model`.
int finish_like(const GridComm& model, std::uint64_t context, MPI_Comm native_part,
                MPI_Comm* result);

/// Held while a handle leaves the native library and then the table of grid communicators. A thread
/// that has just got a handle from the native library calls settle_handles() before that handle is
/// used. Its former communicator may still be in the table.
std::recursive_mutex& unmaking_mutex();
inline void settle_handles() { const std::lock_guard lock(unmaking_mutex()); }
/// For `return settled(native.Comm_dup(...))`.
inline int settled(int code) {
  settle_handles();
  return code;
}

/// A plain communicator of the same processes, errors return. Not a duplicate: that would call the
/// program's attribute copy functions. Collective; throws MpiError.
MPI_Comm plain_copy(MPI_Comm comm);

}  // namespace isthmus::face
