// The life of a conduit: its streams, its clock, its end. conduit_sending.cpp and
// conduit_receiving.cpp are its two halves.
#include "core/conduit.hpp"

#include <algorithm>
#include <utility>

namespace isthmus::core {

Conduit::Conduit(ConduitConfig config, Time now)
    : config_(std::move(config)), heard_(now), now_(now) {}

StreamId Conduit::stream_up(Time now) {
  now_ = std::max(now_, now);
  const StreamId id = next_stream_++;
  if (id == 1) heard_ = now_;
  Stream stream;
  stream.heard = now_;
  stream.next_ping = now_ + config_.link_timeout / 4;
  streams_.emplace(id, stream);
  return id;
}

void Conduit::stream_down(StreamId id) {
  if (streams_.erase(id) == 0) return;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].packet && sent_[i].stream == id) again_.insert(base_ + i);
  }
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
  if (config_.link_timeout > Time::zero()) {
    if (next_stream_ > 1) consider(heard_ + config_.link_timeout);
    for (const auto& [id, stream] : streams_) {
      consider(stream.heard + config_.link_timeout / 2);
      if (stream.hello_received && !stream.ping_due) consider(stream.next_ping);
    }
  }
  return next;
}

std::vector<StreamId> Conduit::tick(Time now) {
  now_ = std::max(now_, now);
  std::vector<StreamId> silent;
  if (!dead_.empty()) return silent;
  if (ack_pending() && now_ >= ack_at_) ack_due_ = true;
  if (config_.link_timeout <= Time::zero()) return silent;
  if (next_stream_ > 1 && now_ - heard_ >= config_.link_timeout) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(config_.link_timeout);
    fail("has not been heard for " + std::to_string(ms.count()) + " ms (link_timeout)");
    return silent;
  }
  for (auto& [id, stream] : streams_) {
    if (now_ - stream.heard >= config_.link_timeout / 2) {
      silent.push_back(id);
    } else if (stream.hello_received && now_ >= stream.next_ping) {
      stream.ping_due = true;
      stream.next_ping = now_ + config_.link_timeout / 4;
    }
  }
  return silent;
}

void Conduit::fail(std::string reason) {
  if (dead_.empty()) dead_ = std::move(reason);
}

}  // namespace isthmus::core
