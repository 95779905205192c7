// The arithmetic of Cartesian topologies (MPI-4.1 section 8.5): ranks in row-major order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Number of positions; empty when it does not fit an int or a dimension is not positive.
std::optional<int> positions(std::span<const int> dims);

std::vector<int> coords_of(const CartTopology& cart, int rank);
/// The rank at `coords`; those of periodic dimensions wrap around. Empty if one is outside.
std::optional<int> rank_at(const CartTopology& cart, std::span<const int> coords);
/// The rank `steps` further along a dimension. Empty beyond the edge.
std::optional<int> shifted(const CartTopology& cart, int rank, int dimension, std::int64_t steps);

/// A member's result of MPI_Cart_sub: the topology of the remaining dimensions, the number of its
/// sub-grid, and its rank there.
struct SubCart {
  CartTopology topology;
  int number;
  int rank;
};
SubCart sub_cart(const CartTopology& cart, int rank, std::span<const int> remain);

}  // namespace isthmus::face
