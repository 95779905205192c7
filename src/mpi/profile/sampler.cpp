#include "mpi/profile/sampler.hpp"

#include <chrono>
#include <optional>

#include "mpi/comm/comm.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/profile/thread.hpp"
#include "net/host/start_thread.hpp"

namespace isthmus::face::profile {
namespace {

// A look costs some 3 us, sleeping and waking included (2026-11).
constexpr std::chrono::milliseconds kPeriod{1};
// Messages of other clusters that are examined to separate those of collectives from others.
constexpr std::size_t kMostAwaited = 16;

struct Expected {
  bool messages = false, collectives = false;
  bool files = false;

  static Expected now() {
    Expected found{.files = far_accesses.load(std::memory_order_relaxed) > 0};
    const Grid* const here = grid();
    if (here == nullptr || !here->endpoint) return found;
    for (const core::Awaited& one : here->endpoint->awaited(kMostAwaited)) {
      (one.context % 2 != 0 ? found.collectives : found.messages) = true;
    }
    return found;
  }
};

/// Whether a call may wait for a process of another cluster.
bool may_be_far(MPI_Comm comm, int peer) {
  if (comm == MPI_COMM_NULL) return true;
  bool far = false;
  find_handle(comm, [&](const GridComm& found) {
    far = peer < 0 ? peer != MPI_PROC_NULL : peer < found.size && found.native_rank_of(peer) < 0;
  });
  return far;
}

bool waits_for_wan(const Thread& thread, std::optional<Expected>& expected) {
  const Whence whence = thread.whence.load(std::memory_order_relaxed);
  if (whence != Whence::Unknown) return whence == Whence::Far;
  const MPI_Comm comm = thread.comm.load(std::memory_order_relaxed);
  const int peer = thread.peer.load(std::memory_order_relaxed);
  if (!may_be_far(comm, peer)) return false;
  if (!expected) expected = Expected::now();
  const bool collective = comm != MPI_COMM_NULL && peer == kNoPeer;
  if (comm == MPI_COMM_NULL && expected->files) return true;
  return expected->collectives || (expected->messages && !collective);
}

}  // namespace

// Without a thread the profile has no shares of waiting, and the program goes on.
Sampler::Sampler() {
  try {
    thread_ = net::start_thread("isthmus-sampler", [this] { run(); });
  } catch (const net::NoThread&) {
    ending_ = true;
  }
}

void Sampler::stop() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
}

void Sampler::run() {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  while (!ending_) {
    std::this_thread::sleep_for(kPeriod);
    if (ending_) return;  // the program is ending the profile
    const auto now = Clock::now();
    look(std::chrono::duration<double>(now - last).count());
    last = now;
  }
}

void Sampler::look(double seconds) {
  bool in_mpi = false;
  bool waits = false;
  std::optional<Expected> expected;
  each_thread([&](Thread& thread) {
    const unsigned function = thread.function.load(std::memory_order_relaxed);
    if (function == 0) return;
    in_mpi = true;
    Times& times = by_function_[function];
    times.mpi += seconds;
    if (!waits_for_wan(thread, expected)) return;
    waits = true;
    times.wan += seconds;
  });
  if (in_mpi) all_.mpi += seconds;
  if (waits) all_.wan += seconds;
}

}  // namespace isthmus::face::profile
