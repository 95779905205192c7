#include "mpi/topology/cart_grid.hpp"

#include <limits>

namespace isthmus::face {

std::optional<int> positions(std::span<const int> dims) {
  std::int64_t count = 1;
  for (const int dim : dims) {
    if (dim <= 0) return std::nullopt;
    count *= dim;
    if (count > std::numeric_limits<int>::max()) return std::nullopt;
  }
  return static_cast<int>(count);
}

std::vector<int> coords_of(const CartTopology& cart, int rank) {
  std::vector<int> coords(cart.dims.size());
  for (std::size_t d = coords.size(); d-- > 0;) {
    coords[d] = rank % cart.dims[d];
    rank /= cart.dims[d];
  }
  return coords;
}

std::optional<int> rank_at(const CartTopology& cart, std::span<const int> coords) {
  int rank = 0;
  for (std::size_t d = 0; d < cart.dims.size(); ++d) {
    const int dim = cart.dims[d];
    int at = coords[d];
    if (cart.periods[d] != 0) {
      at %= dim;
      if (at < 0) at += dim;
    }
    if (at < 0 || at >= dim) return std::nullopt;
    rank = rank * dim + at;
  }
  return rank;
}

std::optional<int> shifted(const CartTopology& cart, int rank, int dimension, std::int64_t steps) {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<int> coords = coords_of(cart, rank);
  std::int64_t at = coords[d] + steps;
  if (cart.periods[d] != 0) at %= cart.dims[d];  // may be negative; rank_at wraps it
  if (at < -cart.dims[d] || at > cart.dims[d]) return std::nullopt;
  coords[d] = static_cast<int>(at);
  return rank_at(cart, coords);
}

SubCart sub_cart(const CartTopology& cart, int rank, std::span<const int> remain) {
  const std::vector<int> coords = coords_of(cart, rank);
  SubCart sub{{}, 0, 0};
  for (std::size_t d = 0; d < coords.size(); ++d) {
    if (remain[d] != 0) {
      sub.topology.dims.push_back(cart.dims[d]);
      sub.topology.periods.push_back(cart.periods[d]);
      sub.rank = sub.rank * cart.dims[d] + coords[d];
    } else {
      sub.number = sub.number * cart.dims[d] + coords[d];
    }
  }
  return sub;
}

}  // namespace isthmus::face
