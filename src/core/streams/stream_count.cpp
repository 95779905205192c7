#include "core/streams/stream_count.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/debug_off.hpp"

namespace isthmus::core {
namespace {

// A quarter of the busy time behind buffers means that a third more could flow.
constexpr double kLimitedShare = 0.25;
// Fewer losses than this slow no stream of a few streams down much; a full queue's are of its size.
constexpr double kLostShare = 1e-4;
constexpr int kMostForLosses = 16;
// More streams must bring this much, or losses are the sign of a link that is full.
constexpr double kWorthIt = 1.1;
// A burst that is too short shows nothing: less than this share of a period, or this many seconds.
constexpr double kBusyEnough = 0.2;
constexpr double kLongEnough = 0.5;

}  // namespace

int streams_for(double rate, double rtt, double ceiling) {
  if (rate <= 0 || rtt <= 0 || ceiling <= 0) return 1;
  return static_cast<int>(std::clamp(std::ceil(rate * rtt / ceiling), 1.0, double{kMostStreams}));
}

int streams_held(double rate, double rtt, int most) {
  if (rtt < kFarRoundTrip || off(Mechanism::HeldStreams)) return 1;
  return std::min(streams_for(rate, rtt, kInitialWindow), std::max(most, 1));
}

int streams_held_each(double rate, double rtt, std::size_t pairs) {
  constexpr double kOver = 2, kLeast = 2;
  const double fill = kOver * rate * rtt / static_cast<double>(kInitialWindow);
  const double each = std::ceil(fill / static_cast<double>(std::max<std::size_t>(pairs, 1)));
  return streams_held(rate, rtt, static_cast<int>(std::clamp(each, kLeast, double{kMostHeld})));
}

std::size_t turn_for(double rate, double rtt, int streams) {
  constexpr double kShare = 0.25;
  if (rate <= 0 || rtt < kFarRoundTrip || streams < 1) return kLeastTurn;
  return static_cast<std::size_t>(
      std::clamp(kShare * rate * rtt / streams, double{kLeastTurn}, double{kMostTurn}));
}

int StreamCount::next(int now, const LinkPeriod& period) {
  if (now < 1 || period.seconds <= 0 || period.busy < kBusyEnough * period.seconds) return now;
  if (period.limited > kLimitedShare * period.busy) return std::min(2 * now, kMostStreams);
  since_.seconds += period.seconds;
  since_.sent += period.sent;
  since_.repeated += period.repeated;
  since_.delivered += period.delivered;
  if (since_.seconds < kLongEnough || settled_ || now >= kMostForLosses) return now;
  const LinkPeriod last = std::exchange(since_, {});
  if (last.repeated <= kLostShare * last.sent) return now;
  const double speed = last.delivered / last.seconds;
  settled_ = before_ > 0 && speed < kWorthIt * before_;
  if (settled_) return now;
  before_ = speed;
  return std::min(2 * now, kMostForLosses);
}

}  // namespace isthmus::core
