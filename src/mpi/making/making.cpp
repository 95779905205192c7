#include "mpi/making/making.hpp"

#include "mpi/making/creation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

int native_cart(MPI_Comm* comm, const CartTopology& cart) {
  MPI_Comm with_topology = MPI_COMM_NULL;
  overtake_idups();
  const int code = parked(native.Cart_create, *comm, static_cast<int>(cart.dims.size()),
                          cart.dims.data(), cart.periods.data(), 0, &with_topology);
  native.Comm_free(comm);
  *comm = with_topology;
  return code;
}

}  // namespace

bool within_cluster(const core::Group& group) {
  const Grid& here = *grid();
  for (int rank = 0; rank < group.size(); ++rank) {
    if (here.native_of(group.world_rank(rank)) < 0) return false;
  }
  return true;
}

int finish_comm(const core::Group& group, std::uint64_t context, MPI_Comm native_part,
                const std::optional<CartTopology>& cart, MPI_Comm* result) {
  settle_handles();
  if (within_cluster(group)) {
    if (cart) {
      Inside inside;
      if (const int code = native_cart(&native_part, *cart); code != MPI_SUCCESS) return code;
      settle_handles();
    }
    *result = native_part;
    return MPI_SUCCESS;
  }
  try {
    const GridCommRef made = register_comm(group, context, native_part);
    made->cart = cart;
  } catch (...) {
    native.Comm_free(&native_part);
    throw;
  }
  *result = native_part;
  return MPI_SUCCESS;
}

std::recursive_mutex& unmaking_mutex() {
  static auto* const mutex = new std::recursive_mutex;  // outlives static objects that free
  return *mutex;
}

}  // namespace isthmus::face
