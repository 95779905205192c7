// Sends and receives inside this cluster, on grid communicators.
#pragma once

#include <optional>
#include <utility>

#include "mpi/comm/survival.hpp"
#include "mpi/native/native.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// A native request as a part of an operation. `source` is the rank in the grid communicator for
/// its status, or MPI_PROC_NULL.
class NativeOperation final : public Operation {
 public:
  /// `comm_`: its error handler gets errors; or MPI_COMM_NULL.
  NativeOperation(MPI_Comm comm_, MPI_Request request, int source = MPI_PROC_NULL,
                  Watched watched = {})
      : request_(request), source_(source), watched_(std::move(watched)) {
    comm = comm_;
  }
  bool advance() override;
  void cancel() override;
  bool give_up() override;

 private:
  bool is_receive() const { return source_ != MPI_PROC_NULL; }
  void look_for_loss();

  MPI_Request request_;
  int source_;
  const Watched watched_;
  std::optional<Loss> loss_;  // a receive is being cancelled then; a send goes on to its end
};

}  // namespace isthmus::face
