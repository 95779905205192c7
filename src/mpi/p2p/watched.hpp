// The losses of the program's messages in a run whose clusters may fail.
#pragma once

#include <memory>
#include <optional>

#include "core/engine/engine.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// The communicator and the peer of an operation. Empty in runs that do not survive.
class Watched {
 public:
  Watched() = default;
  /// `rank`: the peer's, or MPI_ANY_SOURCE.
  Watched(const GridComm& comm, int rank);

  explicit operator bool() const { return comm_ != nullptr; }
  /// Nothing: its peer lives, and the communicator is not revoked.
  std::optional<Loss> loss() const;

 private:
  std::shared_ptr<const GridComm> comm_;
  int rank_ = 0;
};

/// Writes a loss into an operation's result. `what`: "MPI send", for the sentence. True always.
bool lose(const Loss& loss, const char* what, Result& result);
/// An error code is one of those in survival_errors.hpp.
bool is_loss(int code);
/// Throws MpiError if the communicator is revoked.
void require_unrevoked(const GridComm& comm);
/// `comm` is a grid communicator and revoked. A call with MPI_PROC_NULL has that error, too, though
/// it is for the native library.
bool is_revoked(const GridComm* comm);
/// Raises that error.
int refuse_revoked(const GridComm& comm, const char* function);
/// What a call that only starts something makes instead: it is complete, with that error. ULFM
/// leaves the error to the call that completes the operation.
std::unique_ptr<Operation> begun_on_revoked(const GridComm& comm, const char* function);
int request_on_revoked(const GridComm& comm, const char* function, MPI_Request* request);

}  // namespace isthmus::face
