// MPI-4.1 sections 12.5.1 and 12.5.2: synchronization in which targets take part.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "mpi/comm/group.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/rma/quick.hpp"
#include "mpi/rma/synchronize.hpp"

namespace isthmus::face {
namespace {

std::vector<int> ranks_of(const GridWindow& window, MPI_Group group) {
  std::vector<int> ranks;
  for (const int node : group_of(group).nodes()) {
    const auto rank = window.comm->group.rank_of(node);
    require(rank.has_value(), MPI_ERR_GROUP, "the group has a member that the window has not");
    ranks.push_back(*rank);
  }
  return ranks;
}

/// The ranks of this cluster.
std::vector<int> near(const GridWindow& window, const std::vector<int>& ranks) {
  std::vector<int> found;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(found),
               [&](int rank) { return !is_far(window, rank); });
  return found;
}

void fence(GridWindow& window, int assertions) {
  {
    const core::Lock guard(window.mutex);
    require(!window.epochs.any_lock() && !window.epochs.started && !window.epochs.posted,
            MPI_ERR_RMA_SYNC, "a fence within another epoch: unlock, complete or wait first");
    window.change_epochs();
  }
  complete_at_targets(window, partners(window), "MPI_Win_fence");
  meet(window.comm);
  const core::Lock guard(window.mutex);
  window.epochs.fenced = (assertions & MPI_MODE_NOSUCCEED) == 0;
  window.epochs.used = false;
  window.change_epochs();
}

// True: the exposure epoch has ended.
bool end_exposure(GridWindow& window, bool wait) {
  std::vector<int> ranks;
  {
    const core::Lock guard(window.mutex);
    require(window.epochs.posted.has_value(), MPI_ERR_RMA_SYNC, "nothing was posted");
    ranks = *window.epochs.posted;
  }
  const auto completed = [&](const rma::Window& part, std::size_t i) {
    return part.target().has_completed(ranks[i]);
  };
  if (wait) {
    wait_for_each(window, "MPI_Win_wait", ranks, completed);
  } else {
    pump();
    with_part(window, [](rma::Window& part) { part.send_all(); });
    grid()->endpoint->poll();
    const bool all = with_part(window, [&](const rma::Window& part) {
      return std::all_of(ranks.begin(), ranks.end(),
                         [&](int r) { return part.target().has_completed(r) || part.failed(r); });
    });
    if (!all) return false;
  }
  std::vector<int> lost;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : ranks) {
      if (part.target().has_completed(rank)) {
        part.target().take_complete(rank);
      } else {
        lost.push_back(rank);
      }
    }
  });
  {
    const core::Lock guard(window.mutex);
    window.epochs.posted.reset();
  }
  check_alive(window, lost);
  return true;
}

}  // namespace

ISTHMUS_MPI(Win_fence)(int assertions, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_fence, assertions, win);
  return shielded(*window, "MPI_Win_fence", [&] { fence(*window, assertions); });
}

ISTHMUS_MPI(Win_post)(MPI_Group group, int assertions, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_post, group, assertions, win);
  return shielded(*window, "MPI_Win_post", [&] {
    const std::vector<int> ranks = ranks_of(*window, group);
    {
      const core::Lock guard(window->mutex);
      require(!window->epochs.posted, MPI_ERR_RMA_SYNC, "the window is posted already");
      window->epochs.posted = ranks;
    }
    with_part(*window, [&](rma::Window& part) {
      for (const int rank : ranks) part.post(rank);
    });
  });
}

ISTHMUS_MPI(Win_start)(MPI_Group group, int assertions, MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_start, group, assertions, win);
  return shielded(*window, "MPI_Win_start", [&] {
    std::vector<int> ranks = ranks_of(*window, group);
    {
      const core::Lock guard(window->mutex);
      require(!window->epochs.started && !window->epochs.any_lock() &&
                  !(window->epochs.fenced && window->epochs.used),
              MPI_ERR_RMA_SYNC, "an access epoch is under way already");
    }
    with_part(*window, [&](rma::Window& part) {
      for (const int rank : ranks) part.start(rank);
    });
    const core::Lock guard(window->mutex);
    window->epochs.fenced = false;
    window->epochs.started = std::move(ranks);
    window->change_epochs();
  });
}

ISTHMUS_MPI(Win_complete)(MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_complete, win);
  return shielded(*window, "MPI_Win_complete", [&] {
    std::vector<int> ranks;
    {
      const core::Lock guard(window->mutex);
      require(window->epochs.started.has_value(), MPI_ERR_RMA_SYNC, "nothing was started");
      ranks = *std::exchange(window->epochs.started, std::nullopt);
      window->change_epochs();
    }
    with_part(*window, [&](rma::Window& part) {
      for (const int rank : ranks) part.complete(rank);
    });
    // So that a target that hears of this call's return by a message tests successfully.
    wait_for_each(*window, "MPI_Win_complete", ranks,
                  [&](const rma::Window& part, std::size_t i) { return part.all_sent(ranks[i]); });
    // Later native messages within the cluster overtake operations that go by the gateway.
    complete_at_targets(*window, near(*window, ranks), "MPI_Win_complete");
    complete_locally(*window, ranks, "MPI_Win_complete");
    check_alive(*window, ranks);
  });
}

ISTHMUS_MPI(Win_wait)(MPI_Win win) {
  const GridWindowRef window = grid_window(win);
  if (!window) return parked(native.Win_wait, win);
  return shielded(*window, "MPI_Win_wait", [&] { end_exposure(*window, true); });
}

ISTHMUS_MPI(Win_test)(MPI_Win win, int* flag) {
  const GridWindowRef window = grid_window(win);
  if (!window) return native.Win_test(win, flag);
  return shielded(*window, "MPI_Win_test", [&] { *flag = end_exposure(*window, false) ? 1 : 0; });
}

ISTHMUS_MPI(Win_sync)(MPI_Win win) {
  if (quick_sync(win)) return MPI_SUCCESS;
  const GridWindowRef window = grid_window(win);
  if (!window) return native.Win_sync(win);
  with_part(*window, [](rma::Window& part) { part.send_all(); });
  // This thread must see the I/O thread's writes, and the other way round.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
