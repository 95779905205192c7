#include "mpi/request/progress.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/core_sharing.hpp"
#include "core/base/debug_off.hpp"
#include "mpi/process/calling.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/grid_request.hpp"
#include "mpi/request/native_yield.hpp"
#include "net/host/short_slice.hpp"

namespace isthmus::face {

std::atomic<int> streaming_collectives{0};
std::atomic<int> waiting_threads{0};
ProgressMutex progress_mutex;

namespace {

std::vector<GridRequest*> active GUARDED_BY(progress_mutex);  // in the order they were made
std::vector<Served*> served GUARDED_BY(progress_mutex);
bool pumping GUARDED_BY(progress_mutex) =
    false;  // a callback of the program may bring us here again
constinit thread_local int waits_here = 0;

core::CoreSharing core_sharing;

void yield() {
  using std::chrono::steady_clock;
  const auto before = steady_clock::now();
  sched_yield();
  if (core::off(core::Mechanism::CoreSharing)) return;
  core_sharing.yielded(before.time_since_epoch(), steady_clock::now().time_since_epoch());
}

// The thread keeps its short slice. If each wait set it and took it back, 8 B beside eight endless
// loops took three times as long (30 November 2026).
void hurry() {
  constinit static thread_local bool hurries = false;
  if (!std::exchange(hurries, true)) net::shorten_slice(net::Children::Same);
}

Waiting::Place place(const Grid& grid) {
  static const bool leads_session =
      ::getsid(0) == ::getpid() || core::off(core::Mechanism::LooksOnOneHost);
  return {
      .peers = core::off(core::Mechanism::SeveralLooks) ? std::numeric_limits<int>::max()
                                                        : grid.world().size() - grid.local_size,
      .one_host = grid.one_host,
      .crowded = grid.crowded,
      .alone = grid.local_size == 1,
      .leads_session = leads_session,
  };
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
  if (!progress_mutex.try_lock()) return;
  const core::Lock lock(progress_mutex, std::adopt_lock);
  if (pumping) return;
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

Backoff::Backoff(Describe describe)
    : describe_(describe), waiting_(core_sharing, std::chrono::steady_clock::now), seen_(events()) {
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
  return g != nullptr && waiting_.long_since(place(*g));
}

void Backoff::tell() {
  WaitingFor wait{.call = calling};
  describe_(wait);
  if (wait.call != nullptr) known_.emplace(wait);
}

void Backoff::pause(Operation* near) {
  const Grid* const g = grid();
  if (g == nullptr) return pump();
  const Waiting::Place here = place(*g);
  const Waiting::Look look =
      waiting_.look(here, near != nullptr && !core::off(core::Mechanism::LooksNear));
  if (look.near) {
    if (look.yields) yield();
    return;
  }
  {
    // One look at each network, then one yield: the library's own would come between.
    const native_yield::Withheld withheld;
    pump();
    if (look.native) move_native_on();
  }
  if (look.tells) tell();
  const std::uint32_t now = g->endpoint->events();
  const bool streams = streaming_collectives.load(std::memory_order_relaxed) > 0 &&
                       !core::off(core::Mechanism::StreamingNaps);
  const bool event = std::exchange(seen_, now) != now;
  rest(waiting_.rest(here, near != nullptr, event, streams), near);
}

void Backoff::rest(const Waiting::Rest& rest, Operation* near) const {
  const net::Endpoint& endpoint = *grid()->endpoint;
  for (unsigned i = 0; i < rest.polls && endpoint.events() == seen_; ++i) endpoint.poll();
  // An event needs this core more than others do.
  if (rest.yields && endpoint.events() == seen_) yield();
  if (rest.nap == Naps::Length::zero()) return;
  if (rest.hurries) hurry();
  if (rest.for_near) {
    near->nap(rest.nap);
  } else {
    endpoint.wait_event(seen_, rest.nap);
  }
}

}  // namespace isthmus::face
