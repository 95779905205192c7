// Intercommunicators that span clusters. Both sides know the two sides in one order. Collectives
// over all members use `whole`, the communicator of both sides. Messages between the sides use the
// intercommunicator itself, whose ranks are those of the remote side.
#pragma once

#include <cstdint>

#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/runs.hpp"

namespace isthmus::face {

/// The groups of an intercommunicator as one of its members sees them. They have no member in
/// common.
struct Sides {
  core::Group local, remote;

  /// My side is the first: all members decide alike.
  bool local_first() const { return precedes(local.node(0), remote.node(0)); }
  /// The members of both, the first side's first.
  core::Group whole() const { return local_first() ? local.unite(remote) : remote.unite(local); }
};

struct Inter {
  GridCommRef whole;  ///< not in the table; shares context and handle with the intercommunicator
  core::Group local;  ///< my side
  int here = 0;       ///< rank in `whole` of my side's first member,
  int there = 0;      ///< of the remote side's

  int local_size() const { return local.size(); }
};

/// Makes `handle` that of an intercommunicator: the native communicator of both sides' members in
/// my cluster, in the order of Sides::whole(). Local, as register_comm. `session`: that it comes
/// from; may be null.
GridCommRef register_intercomm(const Sides& sides, std::uint64_t context, MPI_Comm handle,
                               TagRange tags, const SessionRef& session);

/// As register_comm or register_intercomm: a communicator of the same members, in the same order,
/// with the same topology and of the same session as `model`.
GridCommRef register_like(const GridComm& model, std::uint64_t context, MPI_Comm handle,
                          TagRange tags);

/// The communicator for collectives over all members: an intercommunicator's `whole`.
inline GridCommRef everyone(const GridCommRef& comm) {
  return comm->inter ? comm->inter->whole : comm;
}
/// The group that a member calls its own.
inline const core::Group& own_group(const GridComm& comm) {
  return comm.inter ? comm.inter->local : comm.group;
}
inline Sides sides_of(const GridComm& intercomm) {
  return {intercomm.inter->local, intercomm.group};
}

/// Throws MpiError with MPI_ERR_COMM for an intercommunicator.
void require_intracomm(const GridComm& comm);

}  // namespace isthmus::face
