// The streams of a conduit: what each has heard and owes, and for how long each has been silent.
// Keeps the conduit's clock. Pure: time is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "core/base/time.hpp"
#include "core/conduit/sent_frames.hpp"

namespace isthmus::core {

class ConduitStreams {
 public:
  struct Stream {
    bool hello_sent = false;
    bool hello_received = false;
    Time heard{};
    Time next_ping{};
    bool ping_due = false;
    bool answer_due = false;  ///< to its ping: others' acknowledgements do not show that it lives
    bool probe_due = false, echo_due = false, probed = false;
    /// Bytes of the wide Ping, and of the answer to the peer's.
    std::size_t probe = 0, echo = 0;

    bool owes() const { return !hello_sent || ping_due || answer_due || probe_due || echo_due; }
  };

  /// As ConduitConfig has them. One of the two ends pings `later`: the other's pings show it that
  /// the streams live.
  ConduitStreams(Time patience, Time timeout, Time now, bool later = false)
      : patience_(patience), timeout_(timeout), later_(later), heard_(now), now_(now) {}

  StreamId up(Time now);
  /// False: there is none of this number.
  bool down(StreamId id);
  /// Null: there is none.
  Stream* find(StreamId id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }
  const Stream* find(StreamId id) const { return const_cast<ConduitStreams*>(this)->find(id); }
  std::size_t size() const { return streams_.size(); }
  /// Some stream has heard the peer's Hello.
  bool connected() const;

  /// The stream is to send that.
  void owe(Stream& stream, bool Stream::*what) {
    if (!stream.owes()) ++owing_;
    stream.*what = true;
  }
  /// The stream, which owed something, has been served.
  void served(const Stream& stream) {
    if (!stream.owes()) --owing_;
  }
  bool some_owe() const { return owing_ > 0; }

  /// The latest time that was given.
  Time now() const { return now_; }
  /// Moves the clock. Silence begins again if this process did not run meanwhile.
  void advance(Time now);
  void heard(Stream& stream) {
    heard_ = stream.heard = now_;
    stream.next_ping = now_ + silence_before_ping();
  }
  /// The time since the peer was last heard. Zero before the first stream, and at the first call
  /// after this process did not run.
  Time silence(Time now) const {
    if (next_ == 1 || stood_still(now)) return Time::zero();
    return std::max(Time::zero(), now - heard_);
  }
  void set_patience(Time patience);
  bool out_of_patience() const { return patience_ > Time::zero() && silence(now_) >= patience_; }
  /// When to look at the streams again; Time::max(): never. It may be too early.
  Time deadline() const;
  /// Makes silent streams ping. Returns those that have been silent for too long.
  std::vector<StreamId> silent();

 private:
  Time timeout() const { return std::min(timeout_, patience_ / 2); }
  Time silence_before_ping() const { return timeout() * (later_ ? 5 : 4) / 8; }
  Time beat() const;
  bool stood_still(Time now) const;
  void look_after(const Stream& stream);

  Time patience_, timeout_;
  bool later_;
  std::map<StreamId, Stream> streams_;
  std::size_t owing_ = 0;    // of them, those that owe something
  Time look_ = Time::max();  // no stream falls silent, or needs a ping, before
  StreamId next_ = 1;
  Time heard_;
  Time now_;
};

}  // namespace isthmus::core
