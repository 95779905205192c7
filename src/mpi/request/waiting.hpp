// What a thread does next while it waits for the grid: it polls, yields its core or naps. A policy
// alone: the caller polls, yields and naps. Pure; the caller's clock gives the time.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/base/core_sharing.hpp"
#include "mpi/request/naps.hpp"

namespace isthmus::face {

class Waiting {
 public:
  using Clock = Naps::Time (*)();

  /// Where the thread waits.
  struct Place {
    int peers = 1;               ///< ranks of other clusters
    bool one_host = false;       ///< all ranks of the grid are on this host
    bool crowded = false;        ///< and are more than its cores
    bool alone = false;          ///< its cluster has no other rank
    bool leads_session = false;  ///< of processes. Kernels share cores out by sessions
                                 ///< (sched_autogroup): such a rank, as MPICH starts them, gives
                                 ///< its core to another one only by sleeping.
  };

  /// The first half of a step.
  struct Look {
    bool near = false;    ///< at memory that processes of this host write alone; ends the step
    bool yields = false;  ///< with `near`: the core, too
    bool native = false;  ///< at the native library as well as the grid
    bool tells = false;   ///< the reason of the wait becomes known to others
  };
  /// The second half.
  struct Rest {
    unsigned polls = 0;     ///< of the grid, until there is an event
    bool yields = false;    ///< the core then, if there was no event
    Naps::Length nap{};     ///< until an event, or this long; 0: none
    bool for_near = false;  ///< the nap ends by the awaited operation's memory
    bool hurries = false;   ///< others compute on the core: it is wanted at once after the nap
  };

  Waiting(core::CoreSharing& sharing, Clock clock) : sharing_(sharing), clock_(clock) {}

  /// `near`: only such memory is awaited, and nothing else needs this thread.
  Look look(const Place& place, bool near) {
    if (near && near_ < kLooksNear) {
      ++near_;
      return {.near = true, .yields = place.crowded && !sharing_.computing(now())};
    }
    // A thread that waits for the grid keeps the native library going: another rank of this
    // cluster may wait for it. That takes as long as the rest of a round.
    const bool native = rounds_ >= kSpins || rounds_ % kRoundsPerNative == kRoundsPerNative - 1;
    return {.native = native, .tells = ++rounds_ == kYields};
  }

  /// `event`: there was one since the last step. `streams`: a long collective moves much data in
  /// many messages.
  Rest rest(const Place& place, bool near, bool event, bool streams) {
    if (streams || event) {
      idle_ = 0;
      if (streams) return {.nap = kStreamNap};
      naps_.end();
      return {};
    }
    ++idle_;
    // The peer wakes this thread, so it need not poll.
    const bool sleeps = near && place.crowded && place.leads_session;
    const bool computing = sharing_.computing(now());
    if (!sleeps && !computing && (idle_ < kYields || looks_on(place))) {
      return {.polls = polls(place), .yields = idle_ >= kSpins || wanted(place)};
    }
    return {.nap = naps_.next(clock_(), place.alone), .for_near = near, .hurries = computing};
  }

  /// The last event is so long ago that steps are naps.
  bool long_since(const Place& place) const {
    return looks_long(place) ? naps_.begun() : idle_ >= kYields;
  }

 private:
  static constexpr unsigned kSpins = 16;           // looks at the network, about 1 us each
  static constexpr unsigned kRoundsPerNative = 4;  // of these, with one look at the native library
  static constexpr unsigned kYields = 64;          // more of them, with a yield
  // Polls between two yields: they take as long as a switch to another rank and back. An exchange
  // of 8 B by 4 ranks on two cores takes 6.4 us with one poll. It takes 1.3 to 2.1 with 16 if a
  // pair has a core each, and 7 to 14 if it shares one (2026-11).
  static constexpr int kMostPolls = 16;
  static constexpr unsigned kLooksNear = 32;
  static constexpr Naps::Length kStreamNap{100};
  // On one host all ranks wait for each other's turns on the cores, and a napping rank sees no
  // event of its own cluster. So it looks and yields for this long first.
  static constexpr std::chrono::milliseconds kLooksOnOneHost{5};

  core::CoreSharing::Time now() const { return clock_().time_since_epoch(); }

  static bool looks_long(const Place& place) { return place.one_host && !place.leads_session; }

  // Reads the clock seldom: that takes as long as a look at the rings.
  bool looks_on(const Place& place) {
    constexpr unsigned kRounds = 16;
    if (!looks_long(place) || naps_.begun()) return false;
    if (idle_ == kYields) idle_since_ = clock_();
    return idle_ % kRounds != 0 || clock_() - idle_since_ < kLooksOnOneHost;
  }

  bool wanted(const Place& place) const {
    return place.one_host ? place.crowded : sharing_.shared();
  }

  // More peers make a look longer, and more ranks want the core. Between hosts, other processes
  // move the messages of sockets and gateways, and may wait for this one. Medians for 8 B on two
  // cores (2026-11): through two gateways 23 us with 16 polls, 15 with one; direct in a lab 71 to
  // 84 and 13 to 17.
  static unsigned polls(const Place& place) {
    if (!place.one_host) return 1;
    const int peers = std::clamp(place.peers, 1, kMostPolls);
    return static_cast<unsigned>(std::clamp(4 * kMostPolls / (peers * peers), 1, kMostPolls));
  }

  core::CoreSharing& sharing_;
  Clock clock_;
  Naps naps_;
  unsigned rounds_ = 0;
  unsigned idle_ = 0;  // rounds since the last event
  unsigned near_ = 0;
  Naps::Time idle_since_{};
};

}  // namespace isthmus::face
