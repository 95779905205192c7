#include "mpi/p2p/watched.hpp"

#include "coll/engine/party.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {

Watched::Watched(const GridComm& comm, int rank)
    : comm_(may_lose() ? comm.shared_from_this() : nullptr), rank_(rank) {}

std::optional<Loss> Watched::loss() const {
  if (!comm_) return std::nullopt;
  return rank_ == MPI_ANY_SOURCE ? loss_of_any(*comm_) : loss_of(*comm_, rank_);
}

bool lose(const Loss& loss, const char* what, Result& result) {
  result.error = error_code(loss.error_class, what, loss.because);
  return true;
}

bool is_loss(int code) {
  if (code == MPI_SUCCESS) return false;
  int error_class = MPI_ERR_OTHER;
  native.Error_class(code, &error_class);
  return error_class == proc_failed() || error_class == proc_failed_pending() ||
         error_class == revoked();
}

void require_unrevoked(const GridComm& comm) {
  if (!comm.survival.revoked.load(std::memory_order_acquire)) return;
  throw MpiError(revoked(), kRevoked);
}

}  // namespace isthmus::face
