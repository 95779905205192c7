// The virtual topologies that a communicator can have (MPI-4.1 chapter 8).
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace isthmus::face {

struct CartTopology {
  std::vector<int> dims, periods;
};

/// A whole graph, the same on all ranks: MPI_Graph_create's `index` and `edges`.
struct GraphTopology {
  std::vector<int> index, edges;

  /// The neighbours of a rank of the graph.
  std::span<const int> neighbors(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const int first = rank == 0 ? 0 : index[r - 1];
    return std::span(edges).subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(index[r] - first));
  }
};

/// The edges that come into this process, and those that go out. The k-th from a source is that
/// source's k-th to this process.
struct DistGraphTopology {
  std::vector<int> sources, source_weights, destinations, destination_weights;
  bool weighted = false;  ///< if false, the weights are unused
};

using Topology = std::variant<CartTopology, GraphTopology, DistGraphTopology>;

/// Null without a topology. Duplicates of a communicator share it.
using TopologyRef = std::shared_ptr<const Topology>;

}  // namespace isthmus::face
