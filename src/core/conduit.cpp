// The life of a conduit: its streams, its clock, its end. conduit_sending.cpp and
// conduit_receiving.cpp are its two halves.
#include "core/conduit.hpp"

#include <algorithm>
#include <utility>

#include "core/time_text.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {

Conduit::Conduit(ConduitConfig config, Time now)
    : config_(std::move(config)), heard_(now), now_(now) {}

// The longest time between two ticks of a conduit that can die of silence.
Time Conduit::beat() const { return std::min<Time>(std::chrono::seconds(1), config_.patience / 8); }

Time Conduit::stream_timeout() const {
  return std::min(config_.stream_timeout, config_.patience / 2);
}

// After missed ticks this process did not run: it was stopped, or its host slept.
bool Conduit::stood_still(Time now) const {
  return config_.patience > Time::zero() && now - now_ > 2 * beat();
}

// Moves the clock. This process heard nothing while it stood still, so silence begins again.
void Conduit::advance(Time now) {
  if (now <= now_) return;
  if (stood_still(now)) {
    heard_ = now;
    for (auto& [id, stream] : streams_) stream.heard = stream.next_ping = look_ = now;
  }
  now_ = now;
}

StreamId Conduit::stream_up(Time now) {
  advance(now);
  const StreamId id = next_stream_++;
  if (id == 1) heard_ = now_;
  Stream stream;
  stream.heard = now_;
  stream.next_ping = now_ + stream_timeout() / 2;
  streams_.emplace(id, stream);
  ++owing_;  // its Hello
  look_after(stream);
  trace::note<trace::Event::StreamUp>(config_.peer, id, streams_.size());
  return id;
}

void Conduit::stream_down(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  if (found->second.owes()) --owing_;
  streams_.erase(found);
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].packet && sent_[i].stream == id) again_.insert(base_ + i);
  }
  for (const auto& [sequence, slot] : stragglers_) {
    if (slot.stream == id) again_.insert(sequence);
  }
  std::erase_if(overdue_, [this](std::uint64_t late) { return again_.contains(late); });
  trace::note<trace::Event::StreamDown>(config_.peer, id, streams_.size(), again_.size());
  settle_anew();
}

void Conduit::probe(StreamId id, std::size_t bytes) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second.probe = bytes;
  if (found->second.hello_received) owe(found->second, &Stream::probe_due);
}

bool Conduit::probed(StreamId id) const {
  const auto found = streams_.find(id);
  return found != streams_.end() && found->second.probed;
}

void Conduit::owe(Stream& stream, bool Stream::*what) {
  if (!stream.owes()) ++owing_;
  stream.*what = true;
}

void Conduit::look_after(const Stream& stream) {
  look_ = std::min({look_, stream.heard + stream_timeout(), stream.next_ping});
}

void Conduit::set_patience(Time patience) {
  config_.patience = patience;
  for (const auto& [id, stream] : streams_) look_after(stream);
}

bool Conduit::connected() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return entry.second.hello_received; });
}

std::optional<Time> Conduit::deadline() const {
  if (!dead_.empty()) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&](Time t) {
    if (!next || t < *next) next = t;
  };
  if (ack_pending() && !ack_due_ && connected()) consider(std::max(ack_at_, now_));
  if (look_late_ != Time::max() && streams_.size() > 1) consider(std::max(look_late_, now_));
  if (config_.patience > Time::zero() && next_stream_ > 1) {
    consider(heard_ + config_.patience);
    consider(now_ + beat());
    if (!streams_.empty()) consider(look_);
  }
  return next;
}

std::vector<StreamId> Conduit::tick(Time now) {
  advance(now);
  std::vector<StreamId> silent;
  if (!dead_.empty()) return silent;
  if (ack_pending() && now_ >= ack_at_) ack_due_ = true;
  if (now_ >= look_late_) look_for_late();
  if (config_.patience <= Time::zero()) return silent;
  if (silence(now_) >= config_.patience) {
    fail("has not been heard for " + time_text(config_.patience) + " (patience)");
    return silent;
  }
  if (now_ < look_) return silent;
  look_ = Time::max();
  for (auto& [id, stream] : streams_) {
    if (now_ - stream.heard >= stream_timeout()) {
      silent.push_back(id);
    } else if (now_ >= stream.next_ping) {
      if (stream.hello_received) owe(stream, &Stream::ping_due);
      stream.next_ping = now_ + stream_timeout() / 2;
    }
    look_after(stream);
  }
  return silent;
}

void Conduit::fail(std::string reason) {
  if (!dead_.empty()) return;
  dead_ = std::move(reason);
  trace::note<trace::Event::ConduitDead>(config_.peer);
}

}  // namespace isthmus::core
