// MPI-4.1 section 8.5.5: the properties of a graph topology.
#include <algorithm>
#include <span>
#include <string>

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/topology_of.hpp"

namespace isthmus::face {
namespace {

std::span<const int> neighbors_of(const GridComm& comm, int rank) {
  const GraphTopology& graph = graph_of(comm);
  if (rank < 0 || rank >= comm.size) {
    throw MpiError(MPI_ERR_RANK, "rank " + std::to_string(rank) + " is not in 0.." +
                                     std::to_string(comm.size - 1));
  }
  return graph.neighbors(rank);
}

void copy_out(std::span<const int> values, int room, int out[], const char* what) {
  if (room < static_cast<int>(values.size())) {
    throw MpiError(MPI_ERR_ARG, std::string("there is room for ") + std::to_string(room) + " " +
                                    what + ", but there are " + std::to_string(values.size()));
  }
  std::copy(values.begin(), values.end(), out);
}

}  // namespace

ISTHMUS_MPI(Graphdims_get)(MPI_Comm comm, int* nnodes, int* nedges) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Graphdims_get(comm, nnodes, nedges);
  return shielded(comm, "MPI_Graphdims_get", [&] {
    const GraphTopology& graph = graph_of(*found);
    *nnodes = static_cast<int>(graph.index.size());
    *nedges = static_cast<int>(graph.edges.size());
  });
}

ISTHMUS_MPI(Graph_get)(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Graph_get(comm, maxindex, maxedges, index, edges);
  return shielded(comm, "MPI_Graph_get", [&] {
    const GraphTopology& graph = graph_of(*found);
    copy_out(graph.index, maxindex, index, "nodes");
    copy_out(graph.edges, maxedges, edges, "edges");
  });
}

ISTHMUS_MPI(Graph_neighbors_count)(MPI_Comm comm, int rank, int* nneighbors) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Graph_neighbors_count(comm, rank, nneighbors);
  return shielded(comm, "MPI_Graph_neighbors_count",
                  [&] { *nneighbors = static_cast<int>(neighbors_of(*found, rank).size()); });
}

ISTHMUS_MPI(Graph_neighbors)(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Graph_neighbors(comm, rank, maxneighbors, neighbors);
  return shielded(comm, "MPI_Graph_neighbors", [&] {
    copy_out(neighbors_of(*found, rank), maxneighbors, neighbors, "neighbours");
  });
}

}  // namespace isthmus::face
