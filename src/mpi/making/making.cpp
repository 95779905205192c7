#include "mpi/making/making.hpp"

#include <set>
#include <stdexcept>
#include <variant>

#include "mpi/comm/inter.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// Makes a native communicator with a topology from one without.
struct MakeNative {
  MPI_Comm plain;
  MPI_Comm* made;

  int operator()(const CartTopology& cart) const {
    return parked(native.Cart_create, plain, static_cast<int>(cart.dims.size()), cart.dims.data(),
                  cart.periods.data(), 0, made);
  }
  int operator()(const GraphTopology& graph) const {
    return parked(native.Graph_create, plain, static_cast<int>(graph.index.size()),
                  graph.index.data(), graph.edges.data(), 0, made);
  }
  int operator()(const DistGraphTopology&) const {
    throw std::logic_error(
        "a distributed graph has all members of its parent, which spans clusters");
  }
};

int give_topology(MPI_Comm* comm, const Topology& topology) {
  MPI_Comm with_topology = MPI_COMM_NULL;
  const NativeCreation creation;
  const int code = std::visit(MakeNative{*comm, &with_topology}, topology);
  native.Comm_free(comm);
  *comm = with_topology;
  return code;
}

}  // namespace

bool within_cluster(const core::Group& group) {
  const Grid& here = *grid();
  for (int rank = 0; rank < group.size(); ++rank) {
    if (here.native_of(group.node(rank)) < 0) return false;
  }
  return true;
}

int clusters_of(const core::Group& group) {
  await_world(group);
  std::set<std::size_t> clusters;
  for (const int rank : group.nodes()) clusters.insert(grid()->world().cluster_of(rank));
  return static_cast<int>(clusters.size());
}

TagRange agree_on_tags(std::uint64_t context, int clusters, MPI_Comm native_part) {
  const Inside inside;
  int size = 0;
  native.Comm_size(native_part, &size);
  if (size == 1) return {};
  if (clusters > grid()->shadow->clusters) {
    const NativeCreation creation;
    return TagRange::on(plain_copy(native_part));
  }
  RangeSearch search(grid()->shadow->free, context);
  std::uint64_t common = 0;
  do {
    const std::uint64_t mine = search.offer();
    const int code = parked(native.Allreduce, static_cast<const void*>(&mine),
                            static_cast<void*>(&common), 1, MPI_UINT64_T, MPI_BAND, native_part);
    if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_OTHER, "a native reduction failed");
  } while (!search.settle(common));
  if (search.found()) return TagRange::found(*search.found());
  const NativeCreation creation;
  return TagRange::on(plain_copy(native_part));
}

int finish_comm(const core::Group& group, std::uint64_t context, MPI_Comm native_part,
                const TopologyRef& topology, const SessionRef& session, MPI_Comm* result) {
  settle_handles();
  if (within_cluster(group)) {
    if (topology) {
      Inside inside;
      const int code = give_topology(&native_part, *topology);
      if (code != MPI_SUCCESS) return code;
      settle_handles();
    }
    *result = native_part;
    return MPI_SUCCESS;
  }
  try {
    const GridCommRef made = register_comm(group, context, native_part,
                                           agree_on_tags(context, clusters_of(group), native_part));
    made->topology = topology;
    made->session = session;
  } catch (...) {
    native.Comm_free(&native_part);
    throw;
  }
  *result = native_part;
  return MPI_SUCCESS;
}

int finish_like(const GridComm& model, std::uint64_t context, MPI_Comm native_part,
                MPI_Comm* result) {
  settle_handles();
  try {
    register_like(model, context, native_part,
                  agree_on_tags(context, model.layout.clusters(), native_part));
  } catch (...) {
    native.Comm_free(&native_part);
    throw;
  }
  *result = native_part;
  return MPI_SUCCESS;
}

std::recursive_mutex& unmaking_mutex() {
  static auto* const mutex = new std::recursive_mutex;  // outlives static objects that free
  return *mutex;
}

MPI_Comm plain_copy(MPI_Comm comm) {
  const Inside inside;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  int code = native.Comm_group(comm, &group);
  if (code == MPI_SUCCESS) {
    code = parked(native.Comm_create, comm, group, &copy);
    native.Group_free(&group);
  }
  require_success(code, "MPI_Comm_create failed natively");
  native.Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

}  // namespace isthmus::face
