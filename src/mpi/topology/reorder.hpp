// `reorder` of topologies: assigns ranks to processes so that few neighbours are in different
// clusters. Processes stay in their places. Ranks move only if the user asks for it. Native
// libraries move none by default, and programs go on with the ranks and neighbours that they gave.
#pragma once

#include <vector>

#include "core/graph/partition.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// The graphs of topologies that all members know whole.
core::Graph graph_of(const CartTopology& cart);
core::Graph graph_of(const GraphTopology& graph);

/// New ranks, by rank of `parent`, of the members that are in the topology: the first ones. They
/// keep their ranks if no order is better. The same on all members; local.
std::vector<int> reordered(const GridComm& parent, const core::Graph& topology);

/// The rank that this member gives for the topology: `reordered` if ranks of `parent` may move,
/// else its own.
template <class Shape>
int rank_in(const GridComm& parent, int count, bool reorder, const Shape& shape) {
  const auto own = static_cast<std::size_t>(parent.rank);
  return reorder && parent.reorders && parent.rank < count ? reordered(parent, graph_of(shape))[own]
                                                           : parent.rank;
}

/// For a distributed graph, whose members know only their own edges: the rank that this one gets,
/// and in `mine` the edges of that rank. Collective over `parent`.
int reorder_together(const GridCommRef& parent, DistGraphTopology& mine);

}  // namespace isthmus::face
