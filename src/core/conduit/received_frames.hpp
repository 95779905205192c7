// The numbers of the frames that a conduit has received, and when it acknowledges them. In custody
// the owner settles each frame first. Pure: time is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/number_set.hpp"
#include "core/base/time.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

class ReceivedFrames {
 public:
  /// `window`: bytes that the peer may have unconsumed here.
  explicit ReceivedFrames(std::size_t window) : window_(window) {}

  /// Routed frames are acknowledged when settled.
  void keep_custody() { custody_ = true; }
  bool in_custody() const { return custody_; }

  bool has(std::uint64_t number) const { return number <= received_ || beyond_.contains(number); }
  /// All up to this have been received.
  std::uint64_t received() const { return received_; }
  /// The same, for Hello: all have been settled, too.
  std::uint64_t acknowledged() const { return custody_ ? settled_up_to() : received_; }

  enum class Taken : std::uint8_t {
    New,
    Before,    ///< it has come before. It is acknowledged at once
    Gaps,      ///< too many others are missing
    NoWindow,  ///< it is more than the window allows
  };
  /// A frame of `bytes` bytes, header included, has come; `delay`: as for `consume`. If `routed`
  /// and in custody, settle() follows.
  Taken take(std::uint64_t number, std::size_t bytes, bool routed, Time now, Time delay);
  void settle(std::uint64_t number, Time now, Time delay);
  /// A frame takes no more room here. Its acknowledgement may wait for `delay` for others, unless
  /// the peer may need the room before.
  void consume(std::size_t bytes, Time now, Time delay) {
    soon(now, delay);
    consumed_ += bytes;
    if (consumed_ - acked_consumed_ >= many()) due_ = true;
  }

  /// An acknowledgement is to go now.
  bool due() const { return due_; }
  void set_due() { due_ = true; }
  /// Enough has come that one is due.
  void check();
  bool pending() const {
    return acked_bytes_ != bytes_ || acked_consumed_ != consumed_ || !fresh_.empty();
  }
  /// Data takes one along.
  bool rides(Time now, Time delay) const {
    return pending() && (unacked_ >= kAckFrames || now - told_at_ >= delay);
  }
  /// If pending(): when it is due, without data.
  Time due_at() const { return due_at_; }
  /// The acknowledgement, which goes now. Another one may be due after it.
  Ack report(Time now);
  /// A stream is gone, and perhaps reports with it: in custody they go again.
  void report_anew();

 private:
  // Or a quarter of the window. At less than 1 Gbit/s the delay is over first. 1 MiB over plain TCP
  // in one room takes 312 us one way; if acknowledged every 128 KiB, 410 (two cores, November
  // 2026).
  static constexpr std::size_t kAckBytes = std::size_t{512} * 1024;
  // The next data acknowledges this many frames, and all whose acknowledgement would soon be due.
  // In a quick exchange each frame would else carry an acknowledgement, a tenth of its cost.
  static constexpr unsigned kAckFrames = 16;

  bool note(std::uint64_t number);
  std::size_t many() const { return std::min(kAckBytes, window_ / 4); }
  std::uint64_t settled_up_to() const;
  void soon(Time now, Time delay) {
    if (!pending()) due_at_ = now + delay;
  }

  std::size_t window_;
  std::uint64_t received_ = 0;
  NumberSet beyond_;         // not touching received_
  std::uint64_t bytes_ = 0;  // of all that have been received
  std::uint64_t consumed_ = 0;

  bool custody_ = false;
  NumberSet unsettled_;
  NumberSet fresh_;  // settled, or never in custody, and not yet acknowledged

  std::uint64_t acked_bytes_ = 0;     // bytes_ when last acknowledged
  std::uint64_t acked_consumed_ = 0;  // consumed_ when last acknowledged
  unsigned unacked_ = 0;              // frames since the last acknowledgement
  bool due_ = false;
  Time due_at_{};
  Time told_at_ = -std::chrono::hours(1);  // when the last acknowledgement went
};

}  // namespace isthmus::core
