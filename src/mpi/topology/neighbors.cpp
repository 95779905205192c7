#include "mpi/topology/neighbors.hpp"

#include <numeric>
#include <variant>

#include "mpi/topology/cart_grid.hpp"

namespace isthmus::face {
namespace {

std::vector<std::size_t> as_listed(std::size_t number) {
  std::vector<std::size_t> order(number);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

struct NeighborsOf {
  int rank;

  /// Along each dimension, the negative direction first. A block sent in one direction comes in
  /// from the other. If both neighbours are one process, the first block that it sends is for the
  /// second place.
  Neighbors operator()(const CartTopology& cart) const {
    Neighbors found;
    for (std::size_t d = 0; d < cart.dims.size(); ++d) {
      for (const int step : {-1, 1}) {
        found.destinations.push_back(
            shifted(cart, rank, static_cast<int>(d), step).value_or(MPI_PROC_NULL));
      }
      found.arrivals.push_back(2 * d + 1);
      found.arrivals.push_back(2 * d);
    }
    found.sources = found.destinations;
    return found;
  }

  Neighbors operator()(const GraphTopology& graph) const {
    const auto listed = graph.neighbors(rank);
    const std::vector<int> ranks(listed.begin(), listed.end());
    return {ranks, ranks, as_listed(ranks.size())};
  }

  Neighbors operator()(const DistGraphTopology& graph) const {
    return {graph.destinations, graph.sources, as_listed(graph.sources.size())};
  }
};

}  // namespace

Neighbors neighbors_of(const GridComm& comm) {
  if (!comm.topology) throw MpiError(MPI_ERR_TOPOLOGY, "the communicator has no topology");
  return std::visit(NeighborsOf{comm.rank}, *comm.topology);
}

}  // namespace isthmus::face
