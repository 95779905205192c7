#include "mpi/p2p/watched.hpp"

#include "coll/engine/party.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

class Lost final : public Operation {
 public:
  Lost(const GridComm& comm_, const char* function) {
    comm = comm_.native;
    passive = true;
    lose({revoked(), kRevoked}, function, result);
  }
  bool advance() override { return true; }
};

}  // namespace

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

bool is_loss(int code) { return code != MPI_SUCCESS && is_survival_error(code); }

void require_unrevoked(const GridComm& comm) {
  if (!comm.survival.revoked.load(std::memory_order_acquire)) return;
  throw MpiError(revoked(), kRevoked);
}

bool is_revoked(const GridComm* comm) {
  return comm != nullptr && may_lose() && comm->survival.revoked.load(std::memory_order_acquire);
}

int refuse_revoked(const GridComm& comm, const char* function) {
  return shielded(comm.native, function, []() -> int { throw MpiError(revoked(), kRevoked); });
}

std::unique_ptr<Operation> begun_on_revoked(const GridComm& comm, const char* function) {
  return std::make_unique<Lost>(comm, function);
}

int request_on_revoked(const GridComm& comm, const char* function, MPI_Request* request) {
  return shielded(comm.native, function,
                  [&] { return make_request(begun_on_revoked(comm, function), request); });
}

}  // namespace isthmus::face
