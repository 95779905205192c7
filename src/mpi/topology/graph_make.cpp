// MPI-4.1 sections 8.5.3 and 8.5.8: making communicators with a graph topology. All members give
// the whole graph.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/comm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/reorder.hpp"

namespace isthmus::face {
namespace {

[[noreturn]] void refuse_graph(const std::string& sentence) {
  throw MpiError(MPI_ERR_ARG, sentence);
}

/// A graph that fits the communicator.
GraphTopology checked_graph(const GridComm& parent, int nnodes, const int index[],
                            const int edges[]) {
  if (nnodes < 0) refuse_graph("nnodes, " + std::to_string(nnodes) + ", is negative");
  if (nnodes > parent.size) {
    refuse_graph("the graph has " + std::to_string(nnodes) + " nodes, but the communicator has " +
                 std::to_string(parent.size) + " ranks");
  }
  if (nnodes == 0) return {};
  if (index == nullptr) refuse_graph("index is a null pointer");
  const std::span<const int> ends(index, static_cast<std::size_t>(nnodes));
  int last = 0;
  for (const int end : ends) {
    if (end < last)
      refuse_graph("index has " + std::to_string(end) + " after " + std::to_string(last));
    last = end;
  }
  if (last > 0 && edges == nullptr) refuse_graph("edges is a null pointer");
  const std::span<const int> all(edges, static_cast<std::size_t>(last));
  for (const int node : all) {
    if (node < 0 || node >= nnodes) {
      refuse_graph("edges has " + std::to_string(node) + ", but the graph has " +
                   std::to_string(nnodes) + " nodes");
    }
  }
  return {{ends.begin(), ends.end()}, {all.begin(), all.end()}};
}

}  // namespace

// coverage: reorder moves ranks where --reorder or the communicator's isthmus_reorder says so
ISTHMUS_MPI(Graph_create)
(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
 MPI_Comm* comm_graph) {
  const GridCommRef parent = spanning(comm_old);
  if (!parent) {
    return settled(
        parked(native.Graph_create, comm_old, nnodes, index, edges, reorder, comm_graph));
  }
  return shielded(comm_old, "MPI_Graph_create", [&] {
    require_intracomm(*parent);
    GraphTopology graph = checked_graph(*parent, nnodes, index, edges);
    const int colour = parent->rank < nnodes ? 0 : MPI_UNDEFINED;
    const int rank = rank_in(*parent, nnodes, reorder != 0, graph);
    return split(parent, colour, rank, std::make_shared<const Topology>(std::move(graph)),
                 comm_graph);
  });
}

// coverage: as MPI_Graph_create with reorder
ISTHMUS_MPI(Graph_map)
(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return native.Graph_map(comm, nnodes, index, edges, newrank);
  return shielded(comm, "MPI_Graph_map", [&] {
    require_intracomm(*parent);
    const GraphTopology graph = checked_graph(*parent, nnodes, index, edges);
    *newrank = parent->rank < nnodes ? rank_in(*parent, nnodes, true, graph) : MPI_UNDEFINED;
  });
}

}  // namespace isthmus::face
