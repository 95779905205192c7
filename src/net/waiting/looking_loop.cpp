#include "net/waiting/looking_loop.hpp"

#include <sched.h>

#include <chrono>

#include "core/base/debug_off.hpp"
#include "net/host/short_slice.hpp"
#include "net/stream/watch.hpp"
#include "net/waiting/looking.hpp"

namespace isthmus::net {
namespace {

Looking::Time clock_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The kernel is asked for news once in this many looks, because that takes as long as many rings.
constexpr unsigned kLooksForOneAtSockets = 8;
// Above, one look at all of them takes longer than it can save.
constexpr std::size_t kMostRings = 64;

void look_for_a_moment(asio::io_context& io, Watch& watch, Looking& looking) {
  watch.stay_awake();
  for (unsigned looks = 1; !io.stopped(); ++looks) {
    const bool news = watch.look();
    const bool asked = news || looks % kLooksForOneAtSockets == 0;
    const bool ran = asked && io.poll() > 0;  // also what news of rings have led to
    const Looking::Time before = clock_now();
    if (news || ran) {
      looking.found(before);
      continue;
    }
    sched_yield();
    if (!looking.goes_on(before, clock_now())) break;
  }
  // Arrivals of the last moment wake no thread, so look once more. Rings that never rest do not
  // delay sockets.
  while (!watch.may_sleep() && !io.stopped()) {
    watch.look();
    watch.stay_awake();
    io.poll();
  }
}

}  // namespace

void run_looking(asio::io_context& io) {
  shorten_slice(Children::Usual);
  Watch& watch = asio::use_service<Watch>(io);
  Looking looking;
  std::uint64_t seen = watch.wakings();
  while (io.run_one() > 0) {
    if (core::off(core::Mechanism::GatewayLooks) || watch.wakings() == seen ||
        watch.size() > kMostRings)
      continue;
    seen = watch.wakings();
    if (looking.woken(clock_now())) look_for_a_moment(io, watch, looking);
  }
}

}  // namespace isthmus::net
