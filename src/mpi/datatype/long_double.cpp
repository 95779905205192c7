#include "mpi/datatype/long_double.hpp"

#include <string>

#include "coll/engine/party.hpp"
#include "core/world/world.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

const core::Cluster& cluster_of(const GridComm& g, int rank) {
  const core::World& world = grid()->world();
  return world.clusters[world.cluster_of(g.group.node(rank))];
}

/// The first cluster that differs from that of rank 0; null when none does.
const core::Cluster* odd_cluster(const GridComm& g) {
  const core::Cluster& first = cluster_of(g, 0);
  for (int i = 1; i < g.layout.clusters(); ++i) {
    const core::Cluster& other = cluster_of(g, g.layout.leader(i));
    if (core::long_double_differs(first, other)) return &other;
  }
  return nullptr;
}

[[noreturn]] void refuse(const char* name, const core::Cluster& a, const core::Cluster& b) {
  throw MpiError(MPI_ERR_TYPE, std::string(name) + " has one format in cluster " + a.name + " (" +
                                   a.arch + ") and another in cluster " + b.name + " (" + b.arch +
                                   "), so it cannot pass between them; use MPI_DOUBLE");
}

}  // namespace

void check_long_double(const GridComm& g, int rank, const char* long_double) {
  if (long_double == nullptr || !g.mixes_long_double || rank < 0) return;
  const core::Cluster& mine = grid()->world().clusters[grid()->cluster];
  const core::Cluster& other = cluster_of(g, rank);
  if (core::long_double_differs(mine, other)) refuse(long_double, mine, other);
}

void check_long_double(const GridComm& comm, MPI_Datatype type) {
  if (!comm.mixes_long_double) return;
  const GridComm& g = comm.inter ? *comm.inter->whole : comm;
  const char* const name = long_double_in(type);
  if (name != nullptr) refuse(name, cluster_of(g, 0), *odd_cluster(g));
}

}  // namespace isthmus::face
