// Sends and receives inside this cluster, on grid communicators.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "mpi/comm/survival.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// In a run whose clusters may fail, messages inside a cluster are sent from a copy if they are at
/// most this long. A copied message takes up to 1.25 times as long at this length with Open MPI,
/// and 1.7 times at 64 KiB (2026-11).
inline constexpr std::size_t kMostCopied = 16 << 10;

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
  /// A send of `copy`.
  NativeOperation(MPI_Comm comm_, MPI_Request request, Watched watched, Outgoing copy)
      : NativeOperation(comm_, request, MPI_PROC_NULL, std::move(watched)) {
    copy_.emplace(std::move(copy));
  }
  bool advance() override;
  void cancel() override;
  bool give_up() override;

 private:
  using Clock = std::chrono::steady_clock;
  bool is_receive() const { return source_ != MPI_PROC_NULL; }
  void look_for_loss();
  bool may_leave();

  MPI_Request request_;
  int source_;
  const Watched watched_;
  std::optional<Outgoing> copy_;
  std::optional<Loss> loss_;
  Clock::time_point lost_at_;
};

}  // namespace isthmus::face
