#include "mpi/datatype/formats.hpp"

#include <string>

#include "coll/engine/party.hpp"
#include "core/world/world.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

const core::Cluster& cluster_of(int node) {
  const core::World& world = grid()->world();
  return world.clusters[world.cluster_of(node)];
}

const core::Cluster& my_cluster() { return grid()->world().clusters[grid()->cluster]; }

[[noreturn]] void refuse(const char* name, const core::Cluster& a, const core::Cluster& b) {
  throw MpiError(MPI_ERR_TYPE, std::string(name) + " has one format in cluster " + a.name + " (" +
                                   a.arch + ") and another in cluster " + b.name + " (" + b.arch +
                                   "), and Isthmus does not know both, so it cannot pass between "
                                   "them; use MPI_DOUBLE");
}

}  // namespace

core::Format own_format() { return core::format_of(my_cluster()); }

core::Format format_of_node(int node) { return core::format_of(cluster_of(node)); }

core::Format format_between(int node) {
  const core::Format own = own_format();
  return format_of_node(node) == own ? own : core::kCommonFormat;
}

void check_passes(const GridComm& g, int rank, const Signature* signature) {
  if (!g.mixes_formats || signature == nullptr || signature->long_double == nullptr || rank < 0) {
    return;
  }
  const core::Cluster& other = cluster_of(g.group.node(rank));
  if (core::long_double_is_lost(my_cluster(), other)) {
    refuse(signature->long_double, my_cluster(), other);
  }
}

void check_known(const Signature& signature, core::Format there) {
  if (signature.long_double == nullptr) return;
  const core::Format own = own_format();
  const std::string name = signature.long_double;
  const bool known =
      own.long_double != core::LongDouble::Other && there.long_double != core::LongDouble::Other;
  if (own.long_double != there.long_double && !known) {
    throw MpiError(MPI_ERR_TYPE, name +
                                     " has another format there, and Isthmus does not know both; "
                                     "use MPI_DOUBLE");
  }
  if (own.order != there.order && name == "MPI_LONG_DOUBLE_INT") {
    throw MpiError(MPI_ERR_TYPE, name +
                                     " has another extent on processors of the other byte order; "
                                     "use a struct of MPI_LONG_DOUBLE and MPI_INT");
  }
}

void change_for(const GridComm& g, int rank, Outgoing& outgoing) {
  if (!g.mixes_formats || outgoing.signature() == nullptr || rank < 0) return;
  check_passes(g, rank, outgoing.signature());
  outgoing.change_format(own_format(), format_between(g.group.node(rank)));
}

void check_passes(const GridComm& comm, MPI_Datatype type) {
  if (!comm.mixes_formats) return;
  const GridComm& g = comm.inter ? *comm.inter->whole : comm;
  const char* const name = long_double_in(type);
  if (name == nullptr) return;
  const core::Cluster& first = cluster_of(g.group.node(g.layout.leader(0)));
  for (int i = 1; i < g.layout.clusters(); ++i) {
    const core::Cluster& other = cluster_of(g.group.node(g.layout.leader(i)));
    if (core::long_double_is_lost(first, other)) refuse(name, first, other);
  }
}

}  // namespace isthmus::face
