// MPI-4.1 sections 8.5.5 and 8.5.6: the properties of a Cartesian topology.
#include <string>
#include <vector>

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/cart_grid.hpp"
#include "mpi/topology/topology_of.hpp"

namespace isthmus::face {
namespace {

/// The number of entries that may be written to an array of `room`.
std::size_t fitting(const CartTopology& cart, int room) {
  if (room < static_cast<int>(cart.dims.size())) {
    throw MpiError(MPI_ERR_ARG, "maxdims is " + std::to_string(room) + ", but the topology has " +
                                    std::to_string(cart.dims.size()) + " dimensions");
  }
  return cart.dims.size();
}

}  // namespace

ISTHMUS_MPI(Cartdim_get)(MPI_Comm comm, int* ndims) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Cartdim_get(comm, ndims);
  return shielded(comm, "MPI_Cartdim_get",
                  [&] { *ndims = static_cast<int>(cart_of(*found).dims.size()); });
}

ISTHMUS_MPI(Cart_get)(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Cart_get(comm, maxdims, dims, periods, coords);
  return shielded(comm, "MPI_Cart_get", [&] {
    const CartTopology& cart = cart_of(*found);
    const std::vector<int> mine = coords_of(cart, found->rank);
    for (std::size_t d = 0; d < fitting(cart, maxdims); ++d) {
      dims[d] = cart.dims[d];
      periods[d] = cart.periods[d];
      coords[d] = mine[d];
    }
  });
}

ISTHMUS_MPI(Cart_rank)(MPI_Comm comm, const int coords[], int* rank) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Cart_rank(comm, coords, rank);
  return shielded(comm, "MPI_Cart_rank", [&] {
    const CartTopology& cart = cart_of(*found);
    const auto at = rank_at(cart, {coords, cart.dims.size()});
    if (!at) {
      throw MpiError(MPI_ERR_ARG, "a coordinate is outside a dimension that is not periodic");
    }
    *rank = *at;
  });
}

ISTHMUS_MPI(Cart_coords)(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Cart_coords(comm, rank, maxdims, coords);
  return shielded(comm, "MPI_Cart_coords", [&] {
    const CartTopology& cart = cart_of(*found);
    if (rank < 0 || rank >= found->size) {
      throw MpiError(MPI_ERR_RANK, "rank " + std::to_string(rank) + " is not in 0.." +
                                       std::to_string(found->size - 1));
    }
    const std::vector<int> at = coords_of(cart, rank);
    for (std::size_t d = 0; d < fitting(cart, maxdims); ++d) coords[d] = at[d];
  });
}

ISTHMUS_MPI(Cart_shift)
(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr) return native.Cart_shift(comm, direction, disp, rank_source, rank_dest);
  return shielded(comm, "MPI_Cart_shift", [&] {
    const CartTopology& cart = cart_of(*found);
    if (direction < 0 || direction >= static_cast<int>(cart.dims.size())) {
      throw MpiError(MPI_ERR_ARG, "direction " + std::to_string(direction) +
                                      " is not one of the topology's " +
                                      std::to_string(cart.dims.size()) + " dimensions");
    }
    *rank_source =
        shifted(cart, found->rank, direction, -std::int64_t{disp}).value_or(MPI_PROC_NULL);
    *rank_dest = shifted(cart, found->rank, direction, disp).value_or(MPI_PROC_NULL);
  });
}

}  // namespace isthmus::face
