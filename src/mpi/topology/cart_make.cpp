// MPI-4.1 sections 8.5.1 and 8.5.6: making communicators with a Cartesian topology.
#include <memory>
#include <string>
#include <utility>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/comm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/cart_grid.hpp"
#include "mpi/topology/reorder.hpp"
#include "mpi/topology/topology_of.hpp"

namespace isthmus::face {
namespace {

CartTopology cart_topology(int ndims, const int dims[], const int periods[]) {
  CartTopology cart;
  for (int d = 0; d < ndims; ++d) {
    cart.dims.push_back(dims[d]);
    cart.periods.push_back(periods[d] != 0 ? 1 : 0);
  }
  return cart;
}

/// Positions of a topology that fits the communicator.
int checked_positions(const GridComm& parent, int ndims, const int dims[]) {
  if (ndims < 0) {
    throw MpiError(MPI_ERR_DIMS, "ndims, " + std::to_string(ndims) + ", is negative");
  }
  const auto count = positions({dims, static_cast<std::size_t>(ndims)});
  if (!count) throw MpiError(MPI_ERR_DIMS, "a dimension is not positive, or all too large");
  if (*count > parent.size) {
    throw MpiError(MPI_ERR_ARG, "the topology has " + std::to_string(*count) +
                                    " positions, but the communicator has " +
                                    std::to_string(parent.size) + " ranks");
  }
  return *count;
}

}  // namespace

// coverage: reorder moves ranks where --reorder or the communicator's isthmus_reorder says so
ISTHMUS_MPI(Cart_create)
(MPI_Comm old_comm, int ndims, const int dims[], const int periods[], int reorder,
 MPI_Comm* comm_cart) {
  const GridCommRef parent = spanning(old_comm);
  if (!parent) {
    return settled(parked(native.Cart_create, old_comm, ndims, dims, periods, reorder, comm_cart));
  }
  return shielded(old_comm, "MPI_Cart_create", [&] {
    require_intracomm(*parent);
    const int count = checked_positions(*parent, ndims, dims);
    const int colour = parent->rank < count ? 0 : MPI_UNDEFINED;
    CartTopology cart = cart_topology(ndims, dims, periods);
    const int rank = rank_in(*parent, count, reorder != 0, cart);
    return split(parent, colour, rank, std::make_shared<const Topology>(std::move(cart)),
                 comm_cart);
  });
}

ISTHMUS_MPI(Cart_sub)(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return settled(native.Cart_sub(comm, remain_dims, newcomm));
  return shielded(comm, "MPI_Cart_sub", [&] {
    const CartTopology& cart = cart_of(*parent);
    SubCart sub = sub_cart(cart, parent->rank, {remain_dims, cart.dims.size()});
    auto topology = std::make_shared<const Topology>(std::move(sub.topology));
    return split(parent, sub.number, sub.rank, topology, newcomm);
  });
}

// coverage: as MPI_Cart_create with reorder
ISTHMUS_MPI(Cart_map)
(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return native.Cart_map(comm, ndims, dims, periods, newrank);
  return shielded(comm, "MPI_Cart_map", [&] {
    require_intracomm(*parent);
    const int count = checked_positions(*parent, ndims, dims);
    *newrank = parent->rank < count
                   ? rank_in(*parent, count, true, cart_topology(ndims, dims, periods))
                   : MPI_UNDEFINED;
  });
}

}  // namespace isthmus::face
