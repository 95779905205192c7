#include "daemon/gateway/link_figures.hpp"

#include <algorithm>
#include <utility>

namespace isthmus::daemon {
namespace {

double in_seconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1e-6;
}

}  // namespace

// The work of the streams since the last period.
core::LinkPeriod LinkFigures::add(const std::map<core::StreamId, net::TcpFigures>& now,
                                  double length) {
  core::LinkPeriod period{.seconds = length};
  std::chrono::microseconds rtt{};
  for (const auto& [id, figures] : now) {
    const net::TcpFigures& before = last_[id];  // zeros for a new stream
    period.busy += in_seconds(figures.busy - before.busy);
    period.limited += in_seconds(figures.limited - before.limited);
    period.sent += static_cast<double>(figures.sent - before.sent);
    period.repeated += static_cast<double>(figures.repeated - before.repeated);
    period.delivered += static_cast<double>(figures.acked - before.acked);
    repeated_ += figures.repeated - before.repeated;
    if (figures.rtt.count() > 0) rtt = std::max(rtt, figures.rtt);
    if (figures.min_rtt.count() > 0) {
      min_rtt_ = min_rtt_.count() == 0 ? figures.min_rtt : std::min(min_rtt_, figures.min_rtt);
    }
  }
  if (rtt.count() > 0) rtt_ = rtt;
  best_rate_ = std::max(best_rate_, period.delivered / period.seconds);
  return period;
}

int LinkFigures::take(Now now, double length) {
  const core::LinkPeriod period = add(now.streams, length);
  last_ = std::move(now.streams);
  const int good = count_.next(now.have, period);
  const double round_trip = in_seconds(min_rtt_);
  const int held = core::streams_held(rate(), round_trip);
  if (held <= 1 || !now.begins_anew) return good;
  // While buffers grow they hold back more streams for a moment. More streams do not help then.
  const int filled = core::streams_for(rate(), round_trip, now.ceiling);
  return std::clamp(good, held, std::max(core::kMostHeld, filled));
}

}  // namespace isthmus::daemon
