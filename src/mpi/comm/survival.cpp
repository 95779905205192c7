#include "mpi/comm/survival.hpp"

#include <limits>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

bool is_revoked(const GridComm& comm) {
  return comm.survival.revoked.load(std::memory_order_acquire);
}

Loss revocation() { return {revoked(), kRevoked}; }

Loss failure_of(std::size_t cluster, const std::string& who) {
  const std::string why = FailedClusters::all().why(cluster);
  return {proc_failed(), who + " has failed" + (why.empty() ? std::string() : ": " + why)};
}

std::size_t cluster_of(const GridComm& comm, int rank) {
  return grid()->world().cluster_of(comm.group.node(rank));
}

/// A rank of the communicator whose cluster that is, or -1. An intercommunicator has
/// ranks of its remote side here.
int member_in(const GridComm& comm, std::size_t cluster) {
  if (comm.inter) {
    for (int rank = 0; rank < comm.size; ++rank) {
      if (cluster_of(comm, rank) == cluster) return rank;
    }
    return -1;
  }
  for (int i = 0; i < comm.layout.clusters(); ++i) {
    if (static_cast<std::size_t>(comm.layout.number_of(i)) == cluster) return comm.layout.leader(i);
  }
  return -1;
}

}  // namespace

std::optional<Loss> loss_of(const GridComm& comm, int rank) {
  if (is_revoked(comm)) return revocation();
  if (FailedClusters::all().count() == 0 || rank < 0 || rank >= comm.size) return std::nullopt;
  const std::size_t cluster = cluster_of(comm, rank);
  if (!FailedClusters::all().has(cluster)) return std::nullopt;
  return failure_of(cluster, "rank " + std::to_string(rank) + " of the communicator");
}

std::optional<Loss> loss_of_all(const GridComm& comm) {
  if (is_revoked(comm)) return revocation();
  if (FailedClusters::all().count() == 0) return std::nullopt;
  const GridComm& both = comm.inter ? *comm.inter->whole : comm;
  for (const std::size_t cluster : FailedClusters::all().first(kAll)) {
    if (member_in(both, cluster) >= 0) {
      return failure_of(cluster, "a member of the communicator");
    }
  }
  return std::nullopt;
}

std::optional<Loss> loss_of_any(const GridComm& comm) {
  if (is_revoked(comm)) return revocation();
  if (FailedClusters::all().count() == 0) return std::nullopt;
  const std::uint32_t known = comm.survival.acknowledged.load(std::memory_order_acquire);
  const std::vector<std::size_t> failed = FailedClusters::all().first(kAll);
  for (std::size_t i = known; i < failed.size(); ++i) {
    const int rank = member_in(comm, failed[i]);
    if (rank < 0) continue;
    Loss loss = failure_of(failed[i], "rank " + std::to_string(rank) +
                                          " of the communicator, which may be the sender,");
    loss.error_class = proc_failed_pending();
    return loss;
  }
  return std::nullopt;
}

std::optional<Loss> loss_among(const core::Group& group) {
  if (FailedClusters::all().count() == 0) return std::nullopt;
  for (int rank = 0; rank < group.size(); ++rank) {
    const std::size_t cluster = grid()->world().cluster_of(group.node(rank));
    if (FailedClusters::all().has(cluster)) {
      return failure_of(cluster, "rank " + std::to_string(rank) + " of the group");
    }
  }
  return std::nullopt;
}

Loss loss_of_process(int node) {
  const core::World& world = grid()->world();
  if (node < 0 || node >= world.size()) return {proc_failed(), "the sender has failed"};
  return failure_of(world.cluster_of(node),
                    world.rank_name(static_cast<core::NodeId>(node)) + " of the world");
}

core::Come revoke_here(const GridComm& comm) {
  comm.survival.revoked.store(true, std::memory_order_release);
  if (!comm.inter) return comm.survival.course.close();
  comm.inter->whole->survival.revoked.store(true, std::memory_order_release);
  return comm.inter->whole->survival.course.close();
}

}  // namespace isthmus::face
