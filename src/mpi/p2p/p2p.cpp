#include "mpi/p2p/p2p.hpp"

#include <string>

#include "mpi/process/error.hpp"

namespace isthmus::face {

int wait_native(MPI_Request* request, MPI_Status* status) {
  int code = MPI_SUCCESS;
  wait_until([&] {
    int flag = 0;
    code = native.Test(request, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

int check_rank(const GridComm& g, int rank, bool any, const char* function) {
  if (rank >= 0 && rank < g.size) return MPI_SUCCESS;
  if (rank == MPI_PROC_NULL || (any && rank == MPI_ANY_SOURCE)) return MPI_SUCCESS;
  const std::string reason = "rank " + std::to_string(rank) + " is not in a communicator of size " +
                             std::to_string(g.size);
  return raise(g.native, error_code(MPI_ERR_RANK, function, reason), function);
}

std::unique_ptr<Operation> start_grid_receive(GridComm& g, Incoming incoming, int source, int tag) {
  if (source != MPI_ANY_SOURCE && g.native_rank_of(source) < 0) {
    return std::make_unique<ReceiveOperation>(g, std::move(incoming), source, tag);
  }
  const core::Lock lock(progress_mutex);
  return std::make_unique<HeldOperation>(g.shared_from_this(), std::move(incoming), source, tag);
}

}  // namespace isthmus::face
