#include "core/conduit/conduit_streams.hpp"

namespace isthmus::core {

// The longest time between two ticks of a conduit that can die of silence.
Time ConduitStreams::beat() const { return std::min<Time>(std::chrono::seconds(1), patience_ / 8); }

// After missed ticks this process did not run: it was stopped, or its host slept.
bool ConduitStreams::stood_still(Time now) const {
  return patience_ > Time::zero() && now - now_ > 2 * beat();
}

void ConduitStreams::advance(Time now) {
  if (now <= now_) return;
  if (stood_still(now)) {
    heard_ = now;
    for (auto& [id, stream] : streams_) stream.heard = stream.next_ping = look_ = now;
  }
  now_ = now;
}

StreamId ConduitStreams::up(Time now) {
  advance(now);
  const StreamId id = next_++;
  if (id == 1) heard_ = now_;
  Stream stream;
  stream.heard = now_;
  stream.next_ping = now_ + silence_before_ping();
  streams_.emplace(id, stream);
  ++owing_;  // its Hello
  look_after(stream);
  return id;
}

bool ConduitStreams::down(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return false;
  if (found->second.owes()) --owing_;
  streams_.erase(found);
  return true;
}

bool ConduitStreams::connected() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return entry.second.hello_received; });
}

void ConduitStreams::look_after(const Stream& stream) {
  look_ = std::min({look_, stream.heard + timeout(), stream.next_ping});
}

void ConduitStreams::set_patience(Time patience) {
  patience_ = patience;
  for (const auto& [id, stream] : streams_) look_after(stream);
}

Time ConduitStreams::deadline() const {
  if (patience_ <= Time::zero() || next_ == 1) return Time::max();
  const Time next = std::min(heard_ + patience_, now_ + beat());
  return streams_.empty() ? next : std::min(next, look_);
}

std::vector<StreamId> ConduitStreams::silent() {
  std::vector<StreamId> silent;
  if (patience_ <= Time::zero() || now_ < look_) return silent;
  look_ = Time::max();
  // Idle streams share the time of their pings, so that idle processes wake seldom. A gateway with
  // 16 streams woke 20 times a second when each had its own (2026-11).
  const bool pinging = std::any_of(streams_.begin(), streams_.end(), [this](const auto& entry) {
    return now_ >= entry.second.next_ping;
  });
  const Time soon = now_ + (pinging ? timeout() / 4 : Time::zero());
  for (auto& [id, stream] : streams_) {
    if (now_ - stream.heard >= timeout()) {
      silent.push_back(id);
    } else if (soon >= stream.next_ping) {
      if (stream.hello_received) owe(stream, &Stream::ping_due);
      stream.next_ping = now_ + silence_before_ping();
    }
    look_after(stream);
  }
  return silent;
}

}  // namespace isthmus::core
