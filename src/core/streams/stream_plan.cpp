#include "core/streams/stream_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/base/debug_off.hpp"

namespace isthmus::core {

using enum StreamPlan::Role;

void StreamPlan::up(Time round_trip, bool far) {
  if (roles_.empty()) far_ = far;
  roles_.push_back(Bulk);
  if (round_trip <= Time::zero()) return;
  pause_.set_round_trip(round_trip);
  round_trip_ = round_trip_ == Time::zero() ? round_trip : std::min(round_trip_, round_trip);
  bulk_.set_round_trip(round_trip_);
}

void StreamPlan::down() {
  if (!roles_.empty()) roles_.pop_back();
  takers_ = all();
}

bool StreamPlan::choose(Time now, std::uint64_t sent, int most, const Look& look) {
  const bool crowded = static_cast<std::size_t>(most) < roles_.size();
  if (std::exchange(crowded_, crowded) || crowded) {
    return take_by(crowded ? of_crowd(static_cast<std::size_t>(most)) : all());
  }
  if (off(Mechanism::BulkStreams) || !bulk_.due(now, sent)) return false;
  return take_by(widest(look));
}

// The first ones.
std::size_t StreamPlan::of_crowd(std::size_t most) {
  std::size_t chosen = 0;
  uneven_ = false;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    roles_[i] = chosen >= most ? Spare : Bulk;
    if (roles_[i] == Bulk && !express(i)) ++chosen;
  }
  return chosen;
}

std::size_t StreamPlan::widest(const Look& look) {
  std::vector<double> windows;
  windows.reserve(roles_.size());
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    windows.push_back(express(i) ? 0 : look.window(i));
  }
  const auto parts = bulk_.choose(windows);
  const auto role = [](BulkStreams::Part part) {
    if (part == BulkStreams::Part::None) return Spare;
    return part == BulkStreams::Part::Narrow ? Narrow : Bulk;
  };
  std::ranges::transform(parts, roles_.begin(), role);
  uneven_ = std::ranges::count(roles_, Narrow) > (express(0) ? 1 : 0);
  const auto spare = static_cast<std::size_t>(std::ranges::count(roles_, Spare));
  return spare > 0 ? roles_.size() - spare : kAll;
}

std::size_t StreamPlan::all() {
  std::ranges::fill(roles_, Bulk);
  uneven_ = false;
  return kAll;
}

bool StreamPlan::take_by(std::size_t takers) { return std::exchange(takers_, takers) != takers; }

bool StreamPlan::express(std::size_t stream) const {
  return far_ && stream == 0 && roles_.size() >= kLeastForExpress && !off(Mechanism::Express);
}

StreamPlan::Role StreamPlan::role(std::size_t stream) const {
  if (stream >= roles_.size()) return Spare;
  return express(stream) ? Express : roles_[stream];
}

bool StreamPlan::off_bulk(std::size_t stream, std::size_t unsent) const {
  const Role is = role(stream);
  return is == Express || (is == Spare && roles_.size() > 1 && unsent > 0);
}

std::size_t StreamPlan::for_small(std::size_t last, const Look& look) const {
  std::size_t chosen = express(0) || last >= roles_.size() ? 0 : last;
  std::int64_t most = look.room(chosen);
  if (most > 0) return chosen;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (const std::int64_t room = look.room(i); room > most) {
      most = room;
      chosen = i;
    }
  }
  return chosen;
}

// Small frames wait behind what a stream has taken, where none is for express frames alone.
std::size_t StreamPlan::turn() const {
  if (takers_ == 1) return kAlone;
  if (roles_.size() < kLeastForExpress || growing_ || off(Mechanism::Turns)) return kTurn;
  const auto takers = static_cast<int>(std::min(takers_, roles_.size() - 1));
  return turn_for(bulk_.rate(), std::chrono::duration<double>(round_trip_).count(), takers);
}

std::size_t StreamPlan::part(std::int64_t room) const {
  if (takers_ == 1) return turn();
  const auto some = static_cast<std::size_t>(std::max<std::int64_t>(room / 4, 0));
  return std::clamp(some, kTurn, turn());
}

int StreamPlan::unsent() const {
  // One stream takes small frames only, beside those that take bulk.
  const auto streams = static_cast<int>(
      takers_ < roles_.size() ? takers_ + 1 : std::max<std::size_t>(1, roles_.size()));
  return std::max(kUnsent / streams, kLeastUnsent);
}

bool StreamPlan::windows_differ(Time now) {
  growing_ = takers_ == kAll && pause_.holds(now) && !off(Mechanism::AfterPause);
  pause_.sent(now);
  return growing_ || uneven_;
}

}  // namespace isthmus::core
