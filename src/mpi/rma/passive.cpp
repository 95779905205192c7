// MPI-4.1 sections 12.5.3 and 12.5.4: locks and flushes. The target's program takes no part.
#include <optional>

#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/rma/quick.hpp"
#include "mpi/rma/synchronize.hpp"

namespace isthmus::face {
namespace {

void require_no_epoch(const Epochs& epochs) {
  require(!epochs.lock_all, MPI_ERR_RMA_SYNC, "all are locked already");
  require(!epochs.started && !(epochs.fenced && epochs.used), MPI_ERR_RMA_SYNC,
          "another access epoch is under way: complete it, or end it with a fence");
}

/// The program may use its own window as soon as it has that lock; those of others may come late.
void take_lock(GridWindow& window, int rank, rma::LockType type, const char* function) {
  with_part(window, [&](rma::Window& part) {
    part.lock(rank, type);
    part.send_now(rank);
  });
  if (rank != window.comm->rank) return;
  wait_for_each(window, function, {rank},
                [rank](const rma::Window& part, std::size_t) { return part.granted(rank); });
}

void lock(GridWindow& window, int type, int rank, int assertions) {
  require(type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED, MPI_ERR_LOCKTYPE,
          "the lock type is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED");
  if (rank == MPI_PROC_NULL) return;
  check_rank(window, rank);
  check_alive(window, {rank});
  const bool unchecked = (assertions & MPI_MODE_NOCHECK) != 0;
  {
    const core::Lock guard(window.mutex);
    Epochs& epochs = window.epochs;
    require_no_epoch(epochs);
    require(epochs.locks.insert(rank).second, MPI_ERR_RMA_SYNC, "the target is locked already");
    if (unchecked) epochs.unchecked.insert(rank);
    epochs.fenced = false;
    window.change_epochs();
  }
  if (unchecked) return;
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  take_lock(window, rank, exclusive ? rma::LockType::Exclusive : rma::LockType::Shared,
            "MPI_Win_lock");
}

void unlock_one(GridWindow& window, int rank) {
  if (rank == MPI_PROC_NULL) return;
  check_rank(window, rank);
  bool unchecked = false;
  {
    const core::Lock guard(window.mutex);
    require(window.epochs.locks.erase(rank) > 0, MPI_ERR_RMA_SYNC, "the target is not locked");
    unchecked = window.epochs.unchecked.erase(rank) > 0;
    window.change_epochs();
  }
  if (unchecked) {
    complete_at_targets(window, {rank}, "MPI_Win_unlock");
  } else {
    unlock(window, {rank}, "MPI_Win_unlock");
  }
  check_alive(window, {rank});
}

void lock_all(GridWindow& window, int assertions) {
  const bool unchecked = (assertions & MPI_MODE_NOCHECK) != 0;
  {
    const core::Lock guard(window.mutex);
    Epochs& epochs = window.epochs;
    require_no_epoch(epochs);
    require(epochs.locks.empty(), MPI_ERR_RMA_SYNC, "a target is locked already");
    epochs.lock_all = true;
    epochs.lock_all_unchecked = unchecked;
    epochs.fenced = false;
    epochs.lazy.clear();
    if (!unchecked) epochs.lazy.insert(window.comm->rank);
    window.change_epochs();
  }
  if (unchecked) return;
  take_lock(window, window.comm->rank, rma::LockType::Passing, "MPI_Win_lock_all");
}

void unlock_all(GridWindow& window) {
  std::vector<int> locked;
  {
    const core::Lock guard(window.mutex);
    Epochs& epochs = window.epochs;
    require(epochs.lock_all, MPI_ERR_RMA_SYNC, "not all are locked");
    epochs.lock_all = false;
    window.change_epochs();
    locked.assign(epochs.lazy.begin(), epochs.lazy.end());
    epochs.lazy.clear();
  }
  unlock(window, locked, "MPI_Win_unlock_all");
  complete_at_targets(window, partners(window), "MPI_Win_unlock_all");
}

/// Without a rank: all.
void flush(GridWindow& window, std::optional<int> rank, bool local, const char* function) {
  if (rank == MPI_PROC_NULL) return;
  if (rank) check_rank(window, *rank);
  {
    const core::Lock guard(window.mutex);
    require(window.epochs.lock_all ||
                (rank ? window.epochs.locks.contains(*rank) : !window.epochs.locks.empty()),
            MPI_ERR_RMA_SYNC, "the target is not locked");
  }
  const std::vector<int> ranks = rank ? std::vector<int>{*rank} : partners(window);
  if (local) {
    complete_locally(window, ranks, function);
  } else {
    complete_at_targets(window, ranks, function);
  }
  if (rank) check_alive(window, ranks);
}

}  // namespace

ISTHMUS_MPI(Win_lock)(int type, int rank, int assertions, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_lock, type, rank, assertions, win);
  return shielded(*window, "MPI_Win_lock", [&] { lock(*window, type, rank, assertions); });
}

ISTHMUS_MPI(Win_unlock)(int rank, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_unlock, rank, win);
  return shielded(*window, "MPI_Win_unlock", [&] { unlock_one(*window, rank); });
}

ISTHMUS_MPI(Win_lock_all)(int assertions, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_lock_all, assertions, win);
  return shielded(*window, "MPI_Win_lock_all", [&] { lock_all(*window, assertions); });
}

ISTHMUS_MPI(Win_unlock_all)(MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_unlock_all, win);
  return shielded(*window, "MPI_Win_unlock_all", [&] { unlock_all(*window); });
}

ISTHMUS_MPI(Win_flush)(int rank, MPI_Win win) {
  if (quick_flush(rank, win)) return MPI_SUCCESS;
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_flush, rank, win);
  return shielded(*window, "MPI_Win_flush", [&] { flush(*window, rank, false, "MPI_Win_flush"); });
}

ISTHMUS_MPI(Win_flush_local)(int rank, MPI_Win win) {
  if (quick_flush(rank, win)) return MPI_SUCCESS;
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_flush_local, rank, win);
  return shielded(*window, "MPI_Win_flush_local",
                  [&] { flush(*window, rank, true, "MPI_Win_flush_local"); });
}

ISTHMUS_MPI(Win_flush_all)(MPI_Win win) {
  if (quick_flush_all(win)) return MPI_SUCCESS;
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_flush_all, win);
  return shielded(*window, "MPI_Win_flush_all",
                  [&] { flush(*window, std::nullopt, false, "MPI_Win_flush_all"); });
}

ISTHMUS_MPI(Win_flush_local_all)(MPI_Win win) {
  if (quick_flush_all(win)) return MPI_SUCCESS;
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_flush_local_all, win);
  return shielded(*window, "MPI_Win_flush_local_all",
                  [&] { flush(*window, std::nullopt, true, "MPI_Win_flush_local_all"); });
}

}  // namespace isthmus::face
