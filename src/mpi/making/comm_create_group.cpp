// MPI_Comm_create_group: only the group's members call it. Its rank 0 makes the context and sends
// it to the first member in each cluster. That one waits until all members of its cluster are here
// and passes it on to them. So one message per cluster crosses, and the native call that follows
// cannot keep a thread that others need for long.
#include "mpi/making/comm_create_group.hpp"

#include <vector>

#include "core/base/own_order.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/subset.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/courier.hpp"
#include "mpi/making/from_group.hpp"
#include "mpi/making/local_vote.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/native_group.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/limits.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

/// The group's members by cluster, as ranks of the parent, in the group's order.
struct Members {
  int leader = 0;           ///< of the group
  std::vector<int> firsts;  ///< the first in each other cluster than the leader's
  std::vector<int> local;   ///< in mine
};

Members members_of(const GridComm& parent, const std::vector<int>& ranks) {
  Members members;
  members.leader = ranks.front();
  const coll::Layout& layout = parent.layout;
  std::vector<bool> seen(static_cast<std::size_t>(layout.clusters()));
  seen[static_cast<std::size_t>(layout.cluster_of(members.leader))] = true;
  for (const int rank : ranks) {
    const int cluster = layout.cluster_of(rank);
    if (cluster == layout.cluster_of(parent.rank)) members.local.push_back(rank);
    if (seen[static_cast<std::size_t>(cluster)]) continue;
    seen[static_cast<std::size_t>(cluster)] = true;
    members.firsts.push_back(rank);
  }
  return members;
}

/// Returns the group's context, when all members of this cluster have called it.
std::uint64_t gather_here(const GridComm& parent, const Members& members, int tag,
                          const Lost& lost) {
  std::uint64_t context = 0;  // as it crosses
  const auto bytes = std::as_writable_bytes(std::span(&context, 1));
  const int first = members.local.front();
  if (parent.rank != first) {
    courier_send(parent, first, tag, {}, lost);
    courier_recv(parent, first, tag, bytes, lost);
    return core::as_little_endian(context);
  }
  if (parent.rank == members.leader) {
    context = core::as_little_endian(fresh_context());
    for (const int other : members.firsts) courier_send(parent, other, tag, bytes, lost);
  } else {
    courier_recv(parent, members.leader, tag, bytes, lost);
  }
  for (const int member : members.local) {
    if (member != first) courier_recv(parent, member, tag, {}, lost);
  }
  for (const int member : members.local) {
    if (member != first) courier_send(parent, member, tag, bytes, lost);
  }
  return core::as_little_endian(context);
}

/// Whether all members of the group have succeeded.
bool agree_here(const GridComm& parent, const Members& members, int tag, const Lost& lost,
                bool mine) {
  const int first = members.local.front();
  std::byte all{static_cast<unsigned char>(mine ? 1 : 0)};
  std::byte other{};
  if (parent.rank != first) {
    courier_send(parent, first, tag, {&all, 1}, lost);
    courier_recv(parent, first, tag, {&all, 1}, lost);
    return all != std::byte{0};
  }
  for (const int member : members.local) {
    if (member == first) continue;
    courier_recv(parent, member, tag, {&other, 1}, lost);
    all &= other;
  }
  if (parent.rank == members.leader) {
    for (const int far : members.firsts) {
      courier_recv(parent, far, tag, {&other, 1}, lost);
      all &= other;
    }
    for (const int far : members.firsts) courier_send(parent, far, tag, {&all, 1}, lost);
  } else {
    courier_send(parent, members.leader, tag, {&all, 1}, lost);
    courier_recv(parent, members.leader, tag, {&all, 1}, lost);
  }
  for (const int member : members.local) {
    if (member != first) courier_send(parent, member, tag, {&all, 1}, lost);
  }
  return all != std::byte{0};
}

int native_create_from_group(const GridComm& parent, const std::vector<int>& local,
                             const FromGroup& from, MPI_Comm* result) {
  std::vector<int> native_ranks;
  native_ranks.reserve(local.size());
  for (const int rank : local) native_ranks.push_back(grid()->native_of(parent.group.node(rank)));
  const Inside inside;
  MPI_Group members = MPI_GROUP_NULL;
  int code = native.Group_incl(native_world_of(from.session), static_cast<int>(local.size()),
                               native_ranks.data(), &members);
  if (code != MPI_SUCCESS) return code;
  code = native_from_group(members, from.tag, result);
  native.Group_free(&members);
  require_success(code, kNotMadeNatively);
  return code;
}

int native_create_group(const GridComm& parent, const std::vector<int>& local,
                        std::uint64_t context, int tag, MPI_Comm* result) {
  std::vector<int> native_ranks;
  native_ranks.reserve(local.size());
  for (const int rank : local) native_ranks.push_back(parent.native_rank_of(rank));
  Inside inside;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  int code = native.Comm_group(parent.native, &all);
  if (code != MPI_SUCCESS) return code;
  code = native.Group_incl(all, static_cast<int>(native_ranks.size()), native_ranks.data(), &some);
  native.Group_free(&all);
  if (code != MPI_SUCCESS) return code;
  code = create_native_group(parent.native, parent.session, some, context, tag, result);
  native.Group_free(&some);
  return code;
}

}  // namespace

int create_group(const GridComm& parent, const core::Group& group, int tag, const FromGroup* from,
                 MPI_Comm* newcomm, IfRevoked if_revoked) {
  if (tag < 0 || tag > limits().tag_upper_bound) {
    throw MpiError(MPI_ERR_TAG, "tag " + std::to_string(tag) + " is not in 0.." +
                                    std::to_string(limits().tag_upper_bound));
  }
  require_intracomm(parent);
  const std::vector<int> ranks = ranks_in(parent, group);
  if (!group.rank_of(grid()->node)) {
    *newcomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const Members members = members_of(parent, ranks);
  const Lost lost = [&]() -> std::optional<Loss> {
    if (if_revoked == IfRevoked::Ends && parent.survival.revoked.load(std::memory_order_acquire)) {
      return Loss{revoked(), kRevoked};
    }
    return loss_among(group);
  };
  // Messages of a call that was given up must not meet a later one among the survivors.
  const int apart = may_lose() ? tag_among(group, tag) : tag;
  std::uint64_t context = 0;
  before_native(parent, members.local, apart,
                [&] { context = gather_here(parent, members, apart, lost); });
  const auto make = [&](MPI_Comm* made) {
    MPI_Comm native_part = MPI_COMM_NULL;
    const int code = from != nullptr
                         ? native_create_from_group(parent, members.local, *from, &native_part)
                         : native_create_group(parent, members.local, context, tag, &native_part);
    if (code != MPI_SUCCESS) return code;
    return finish_comm(group, context, native_part, nullptr,
                       from != nullptr ? from->session : parent.session, made);
  };
  const auto agree = [&](bool mine) {
    return sealed(group, context, [&] { return agree_here(parent, members, apart, lost, mine); });
  };
  return make_together(make, agree, newcomm);
}

ISTHMUS_MPI(Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent || group == MPI_GROUP_NULL) {
    if (!inner_call() && is_grid_group(group)) return refuse_group(comm, "MPI_Comm_create_group");
    return settled(parked(native.Comm_create_group, comm, group, tag, newcomm));
  }
  return shielded(comm, "MPI_Comm_create_group", [&] {
    return create_group(*parent, group_of(group), tag, nullptr, newcomm, IfRevoked::Ends);
  });
}

}  // namespace isthmus::face
