#include "mpi/request/progress.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/debug_off.hpp"
#include "mpi/process/calling.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/uncancelled.hpp"
#include "mpi/request/core_sharing.hpp"
#include "mpi/request/grid_request.hpp"
#include "mpi/request/native_yield.hpp"

namespace isthmus::face {

std::atomic<int> streaming_collectives{0};
std::atomic<int> waiting_threads{0};
ProgressMutex progress_mutex;

namespace {

std::vector<GridRequest*> active;  // in the order they were made
std::vector<Served*> served;
bool pumping = false;  // a callback of the program may bring us here again
constinit thread_local int waits_here = 0;

constexpr unsigned kSpins = 16;           // looks at the network, about 1 us each
constexpr unsigned kRoundsPerNative = 4;  // of these, with one look at the native library
constexpr unsigned kYields = 64;          // more of them, giving way to others
// Looks at the grid before a core is yielded: they take as long as a switch to another rank and
// back. An exchange of 8 B by 4 ranks on two cores takes 6.4 us with one look. It takes 1.3 to 2.1
// with 16 if a pair has a core each, and 7 to 14 if it shares one (2026-11).
constexpr int kMostLooksATurn = 16;
// Before that, looks at memory that processes of this host write alone, if those are awaited.
constexpr unsigned kLooksNear = 32;
constexpr std::chrono::microseconds kStreamNap{100};
// On one host all ranks wait for each other's turns on the cores, and a napping rank sees no event
// of its own cluster. So it looks and yields for this long first, as Open MPI does for ever.
constexpr std::chrono::milliseconds kLooksOnOneHost{5};

CoreSharing core_sharing;

void give_way() {
  const auto before = std::chrono::steady_clock::now();
  sched_yield();
  core_sharing.gave_way(std::chrono::steady_clock::now() - before);
}

// Kernels share cores out by sessions (sched_autogroup): a process with a session of its own, as
// MPICH's ranks are, yields its core only by sleeping.
bool looks_long(const Grid& grid) {
  static const bool leads_session = ::getsid(0) == ::getpid();
  return grid.one_host && !leads_session && !core::off(core::Mechanism::LooksOnOneHost);
}

// More peers make a look longer, and more ranks want the core. Other processes move the messages of
// sockets and gateways, and may wait for this one. Medians for 8 B on two cores (2026-11): through
// two gateways 23 us with 16 looks, 15 with one; direct in a lab 71 to 84 and 13 to 17.
unsigned looks_a_turn(const Grid& grid) {
  if (!grid.one_host || core::off(core::Mechanism::SeveralLooks)) return 1;
  const int peers = std::clamp(grid.world().size() - grid.local_size, 1, kMostLooksATurn);
  return static_cast<unsigned>(
      std::clamp(4 * kMostLooksATurn / (peers * peers), 1, kMostLooksATurn));
}

}  // namespace

void activate(GridRequest& request) {
  if (request.listed) return;
  request.listed = true;
  active.push_back(&request);
  outstanding.add();
}

void deactivate(GridRequest& request) {
  if (!request.listed) return;
  request.listed = false;
  *std::find(active.begin(), active.end(), &request) = nullptr;  // pump() closes the gap
  outstanding.remove();
}

void serve_from_now_on(Served& held) {
  if (std::find(served.begin(), served.end(), &held) == served.end()) served.push_back(&held);
}

void stop_serving(Served& held) {
  const auto at = std::find(served.begin(), served.end(), &held);
  if (at != served.end()) *at = nullptr;  // pump() closes the gap
}

void pump() {
  if (idle()) return;
  const std::unique_lock lock(progress_mutex, std::try_to_lock);
  if (!lock || pumping) return;
  const Uncancelled here;
  pumping = true;
  for (std::size_t i = 0; i < active.size(); ++i) {
    GridRequest* const request = active[i];
    if (request == nullptr || !request->advance() || active[i] == nullptr) continue;
    active[i] = nullptr;
    request->listed = false;
    outstanding.remove();
    if (request->orphan) delete request;
  }
  std::erase(active, nullptr);
  for (std::size_t i = 0; i < served.size(); ++i) {
    if (served[i] == nullptr) continue;
    served[i]->serve();
    if (served[i] != nullptr && served[i]->empty()) served[i] = nullptr;
  }
  std::erase(served, nullptr);
  pumping = false;
}

Backoff::Backoff(Describe describe) : describe_(describe), seen_(events()) {
  waiting_threads.fetch_add(1, std::memory_order_relaxed);
  ++waits_here;
}

Backoff::~Backoff() {
  --waits_here;
  waiting_threads.fetch_sub(1, std::memory_order_relaxed);
  send_gathered();
}

bool Backoff::here() { return waits_here > 0; }

void Backoff::send_gathered() {
  if (const Grid* const g = grid()) g->endpoint->send_gathered();
}

std::uint32_t Backoff::events() {
  const Grid* const g = grid();
  return g == nullptr ? 0 : g->endpoint->events();
}

bool Backoff::long_since() const {
  const Grid* const g = grid();
  return g != nullptr && looks_long(*g) ? naps_.begun() : idle_rounds_ >= kYields;
}

void Backoff::tell() {
  WaitingFor wait{.call = calling};
  describe_(wait);
  if (wait.call != nullptr) known_.emplace(wait);
}

// Reads the clock seldom: that takes as long as a look at the rings.
bool Backoff::looks_on() {
  constexpr unsigned kRounds = 16;
  if (naps_.begun()) return false;
  if (idle_rounds_ == kYields) idle_since_ = std::chrono::steady_clock::now();
  return idle_rounds_ % kRounds != 0 ||
         std::chrono::steady_clock::now() - idle_since_ < kLooksOnOneHost;
}

void Backoff::pause(Operation* near) {
  const Grid* const g = grid();
  if (near != nullptr && g != nullptr && near_rounds_ < kLooksNear &&
      !core::off(core::Mechanism::LooksNear)) {
    ++near_rounds_;
    if (g->crowded) sched_yield();
    return;
  }
  {
    // One look at each network, then one giving way: the library's own would come between.
    const native_yield::Withheld withheld;
    pump();
    if (g == nullptr) return;
    // A thread that waits for the grid keeps the native library going: another rank of this cluster
    // may wait for it. That takes as long as the rest of a round.
    const bool turn = rounds_ >= kSpins || rounds_ % kRoundsPerNative == kRoundsPerNative - 1;
    if (turn) move_native_on();
  }
  if (++rounds_ == kYields) tell();
  const std::uint32_t now = g->endpoint->events();
  if (streaming_collectives.load(std::memory_order_relaxed) > 0 &&
      !core::off(core::Mechanism::StreamingNaps)) {
    idle_rounds_ = 0;
    g->endpoint->wait_event(now, kStreamNap);
    return;
  }
  if (now != seen_) {
    seen_ = now;
    idle_rounds_ = 0;
    naps_.end();
    return;
  }
  ++idle_rounds_;
  // The peer will wake this thread, so it need not poll. Only sleeping gives the core to a rank of
  // another session.
  const bool sleeps = near != nullptr && g->crowded && looks_long(*g);
  if (!sleeps && (idle_rounds_ < kYields || (looks_long(*g) && looks_on()))) {
    const unsigned looks = looks_a_turn(*g);
    for (unsigned i = 0; i < looks && g->endpoint->events() == now; ++i) g->endpoint->poll();
    // An event needs this core more than others do.
    if (g->endpoint->events() != now) return;
    if (g->one_host) {
      if (idle_rounds_ >= kSpins || g->crowded) sched_yield();
    } else if (idle_rounds_ >= kSpins ||
               (core_sharing.shared() && !core::off(core::Mechanism::CoreSharing))) {
      give_way();
    }
    return;
  }
  const auto nap = naps_.next(std::chrono::steady_clock::now(),
                              g->local_size == 1 ? Naps::kLongestAlone : Naps::kLongest);
  if (near != nullptr) {
    near->nap(nap);
  } else {
    g->endpoint->wait_event(seen_, nap);
  }
}

}  // namespace isthmus::face
