// MPI-4.1 section 8.5.5: the properties of a distributed graph topology, as this process sees it.
#include <algorithm>
#include <vector>

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/topology_of.hpp"

namespace isthmus::face {
namespace {

/// Copies as many as fit.
void copy_out(const std::vector<int>& values, int room, int out[]) {
  if (room < 0) throw MpiError(MPI_ERR_ARG, "the room for neighbours is negative");
  const auto count = std::min(values.size(), static_cast<std::size_t>(room));
  std::copy_n(values.begin(), count, out);
}

}  // namespace

ISTHMUS_MPI(Dist_graph_neighbors_count)
(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) {
    return native.Dist_graph_neighbors_count(comm, indegree, outdegree, weighted);
  }
  return shielded(comm, "MPI_Dist_graph_neighbors_count", [&] {
    const DistGraphTopology& graph = dist_graph_of(*found);
    *indegree = static_cast<int>(graph.sources.size());
    *outdegree = static_cast<int>(graph.destinations.size());
    *weighted = graph.weighted ? 1 : 0;
  });
}

ISTHMUS_MPI(Dist_graph_neighbors)
(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
 int destinations[], int destweights[]) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) {
    return native.Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree,
                                       destinations, destweights);
  }
  return shielded(comm, "MPI_Dist_graph_neighbors", [&] {
    const DistGraphTopology& graph = dist_graph_of(*found);
    copy_out(graph.sources, maxindegree, sources);
    copy_out(graph.destinations, maxoutdegree, destinations);
    if (graph.weighted && sourceweights != MPI_UNWEIGHTED) {
      copy_out(graph.source_weights, maxindegree, sourceweights);
    }
    if (graph.weighted && destweights != MPI_UNWEIGHTED) {
      copy_out(graph.destination_weights, maxoutdegree, destweights);
    }
  });
}

}  // namespace isthmus::face
