// Frames that are late: their stream stands, but has probably lost its tail. They go again over
// another, and a receiver drops what comes twice by its number. Streams with late frames carry no
// new ones for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "core/base/late.hpp"
#include "core/conduit/sent_frames.hpp"

namespace isthmus::core {

class LateFrames {
 public:
  /// No frame is late on a short path.
  void set_round_trip(Time round_trip) { late_.set_round_trip(round_trip); }
  /// No frame is late any more.
  void disable() { disabled_ = true; }
  /// The longest wait of an acknowledgement that the sender hardly notices.
  Time ack_delay() const { return late_.ack_delay(); }
  /// No frame is late at either end of the path.
  bool near() const { return late_.near(); }

  void sent(std::size_t bytes, Time now) {
    late_.sent(bytes);
    if (late_.possible() && !disabled_ && look_ == Time::max()) look_ = now + late_.after();
  }
  // An acknowledgement, and the frames that it is for.
  void begin_ack() { late_.begin_ack(); }
  void acknowledged(std::uint64_t number, const SentFrames::Slot& slot, Time now);
  void end_ack() { late_.end_ack(); }
  /// The frame goes again for another reason.
  void forget(std::uint64_t number) {
    if (!overdue_.empty()) overdue_.erase(number);
  }
  void stream_down(StreamId stream, const SentFrames& sent);

  /// When to look(); Time::max(): not yet.
  Time look_at() const { return look_; }
  /// Finds the frames that are late. `streams`: those that stand; `bulk_waits`: more follows.
  void look(const SentFrames& sent, Time now, std::size_t streams, bool bulk_waits);

  /// No late frame waits.
  bool empty() const { return overdue_.empty(); }
  /// The first late frame that may go by this stream, or 0.
  std::uint64_t next(StreamId stream, bool bulk, const SentFrames& sent, Time now) const;
  /// The frame that next() returned goes by this stream now.
  SentFrames::Slot& resend(std::uint64_t number, StreamId stream, SentFrames& sent, Time now);
  /// New frames stay off the stream, while more than half of the `streams` may take them.
  bool avoids(StreamId stream, std::size_t streams, Time now) const;

 private:
  bool has_late(StreamId stream, Time now) const {
    const auto found = avoided_.find(stream);
    return found != avoided_.end() && found->second > now;
  }

  Late late_;
  bool disabled_ = false;
  std::set<std::uint64_t> overdue_;   // to go again
  std::map<StreamId, Time> avoided_;  // streams with late frames, until then
  Time acked_at_{};                   // when the last that has been acknowledged was sent
  Time look_ = Time::max();           // no frame is late before
};

}  // namespace isthmus::core
