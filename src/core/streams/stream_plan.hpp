// How the streams of a conduit share its bulk: the role of each, how much it takes in a turn, and
// what it may leave unsent. A policy alone: the driver writes. Pure; time is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/streams/after_pause.hpp"
#include "core/streams/bulk_streams.hpp"
#include "core/streams/stream_count.hpp"
#include "core/wire/message.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

/// Streams have numbers from 0 on. A new one takes bulk. When one ends, all others take bulk until
/// the next choice, since the one that ended may have taken all.
class StreamPlan {
 public:
  using Time = std::chrono::nanoseconds;

  enum class Role : std::uint8_t {
    Bulk,     ///< takes everything
    Narrow,   ///< takes only as much bulk as its window has room for
    Spare,    ///< takes no new bulk; repeats what others have lost once nothing new waits
    Express,  ///< takes small frames only
  };
  /// What the driver sees of its streams.
  class Look {
   public:
    /// Bytes that may be under way; 0: unknown. Asks the kernel.
    virtual double window(std::size_t stream) const = 0;
    /// Bytes that it would send at once; negative if some wait already. Asks the kernel.
    virtual std::int64_t room(std::size_t stream) const = 0;

   protected:
    ~Look() = default;
  };

  /// Bytes that a stream takes at a time, at least (turn_for).
  static constexpr std::size_t kTurn = kLeastTurn;
  /// The same where one stream takes all of the bulk: a large frame (Limits::piece). Small, because
  /// taken bytes cannot be overtaken any more.
  static constexpr std::size_t kAlone = Limits{}.piece;
  /// The first stream is for express frames if there are this many over a long path. Behind bulk
  /// they would wait for the repetition of lost segments, 200 to 600 ms if the tail was lost. That
  /// is for 8 B beside a stream, 1 Gbit/s at 11.6 ms, 32 streams (2026-11).
  static constexpr std::size_t kLeastForExpress = 4;
  /// Bytes that may wait in the kernels' buffers of all streams: 1 ms at 1 Gbit/s, so that the
  /// writer can sleep meanwhile. Each stream has enough to wake the writer in time. If there are
  /// many streams, each has little. Otherwise the first ones would take more than they can send
  /// while others are idle.
  static constexpr int kUnsent = 128 * 1024, kLeastUnsent = 4 * 1024;

  /// A stream has connected. `far`: the path is kFarRoundTrip or longer. `round_trip`: as
  /// connecting measured it; 0: unknown.
  void up(Time round_trip, bool far);
  /// A stream has ended.
  void down();
  std::size_t streams() const { return roles_.size(); }
  /// The shortest measured: streams may have connected beside bulk. 0: unknown.
  Time round_trip() const { return round_trip_; }

  /// Chooses roles while bulk waits. `sent`: the bytes that the conduit has sent in all. `most`:
  /// streams that a crowd leaves it. True: unsent() has changed.
  bool choose(Time now, std::uint64_t sent, int most, const Look& look);
  /// Spare, if there is none of this number.
  Role role(std::size_t stream) const;
  /// New bulk does not go by it. `unsent`: bulk that waits.
  bool off_bulk(std::size_t stream, std::size_t unsent) const;
  /// The stream for small frames while no bulk waits: the first if that is for them alone, else
  /// `last`, which took the last ones. If that has no room, it is the one with the most. TCP counts
  /// segments, however few bytes they have, so a few small frames fill a window. The next one would
  /// wait a round trip: LU of NPB took 9 % longer than natively, and 5 % since (slow16; 2026-12).
  std::size_t for_small(std::size_t last, const Look& look) const;
  /// Bytes that a stream takes in a turn.
  std::size_t turn() const;
  /// The same when each takes what it sends the soonest: a few at a time, to keep windows alike.
  /// `room`: of its window.
  std::size_t part(std::int64_t room) const;
  /// Bytes that each stream may have in its kernel's buffer.
  int unsent() const;

  /// Bulk is sent now. True: windows may differ, so each stream should get what it sends the
  /// soonest. To ask for all windows took 3 % of the time where it was always done (48 streams,
  /// 1 Gbit/s; November 2026).
  bool windows_differ(Time now);
  /// No bulk waits.
  void idle() { growing_ = false; }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  bool express(std::size_t stream) const;
  std::size_t of_crowd(std::size_t most);
  std::size_t widest(const Look& look);
  std::size_t all();
  bool take_by(std::size_t takers);

  std::vector<Role> roles_;  // of each stream; Express is not among them
  bool far_ = false;
  std::size_t takers_ = kAll;  // the number of streams that take bulk
  bool growing_ = false;       // their windows are
  bool uneven_ = false;        // some streams are narrow
  bool crowded_ = false;       // by the crowd's word
  Time round_trip_{};
  BulkStreams bulk_;
  AfterPause pause_;
};

}  // namespace isthmus::core
