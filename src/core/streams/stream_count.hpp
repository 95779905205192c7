// The number of streams that a link should have: enough that neither the kernels' buffers nor lost
// packets keep it below the network's rate. Pure; it gets measured figures.
#pragma once

#include <cstddef>

namespace isthmus::core {

/// Above this, connections cost more than they bring.
inline constexpr int kMostStreams = 64;
/// More of them compete with each other. 4 MiB after a pause took 107 to 112 ms a round trip with
/// 48, 122 with 32 and 130 with 64 (2026-11: 1 Gbit/s at 11.6 ms).
inline constexpr int kMostHeld = 48;
/// Bytes that a stream may have under way when it begins (RFC 6928: 10 segments).
inline constexpr std::size_t kInitialWindow = std::size_t{10} * 1448;
/// Round trips below this, in seconds, are waited for several times before anybody notices.
inline constexpr double kFarRoundTrip = 2e-3;

/// For a link of a known rate (bytes/s) and round trip (s), when one stream can have `ceiling`
/// bytes under way. At least 1.
int streams_for(double rate, double rtt, double ceiling);

/// The number of ready streams that fill a link at once although their kernel lets each begin anew
/// after a pause. `most` bounds it. 1 if the path is too short to matter, or its figures are
/// unknown.
int streams_held(double rate, double rtt, int most = kMostHeld);

/// The number of them for each of `pairs` pairs of processes that share the link: all together fill
/// it twice, since not all send at once. The second covers the losses of the first. More cost more
/// than they bring. Eight pairs of 64 over 20 ms, 4 MB each way at 100 Mbit/s (2026-11): 0.5 to 1.0
/// s with 1 stream, 0.6 to 1.3 with 4, 0.6 to 3.9 with 32.
int streams_held_each(double rate, double rtt, std::size_t pairs);

/// The bytes of bulk that a link's stream takes at a time. Little, if windows may be small: only a
/// frame or two should wait in one while others could send (core/engine/outbound.cpp cuts larger
/// ones). A quarter of each stream's bytes under way, if that is more: larger writes leave as
/// larger segments (2026-11: 10 Gbit/s at 50 ms, 48 streams, 1 MiB messages: 2550 Mbit/s with the
/// least, 3150 with 64 KiB).
inline constexpr std::size_t kLeastTurn = std::size_t{8} * 1024;
inline constexpr std::size_t kMostTurn = std::size_t{256} * 1024;
std::size_t turn_for(double rate, double rtt, int streams);

/// One period's worth of the link's sending, over all its streams.
struct LinkPeriod {
  double seconds = 0;    ///< its length
  double busy = 0;       ///< seconds with something to send, summed over streams
  double limited = 0;    ///< of these, held back by buffers
  double sent = 0;       ///< bytes
  double repeated = 0;   ///< bytes that were lost and sent again
  double delivered = 0;  ///< bytes acknowledged
};

class StreamCount {
 public:
  /// The number to have, from `now` streams: never less.
  int next(int now, const LinkPeriod& period);

 private:
  LinkPeriod since_;   // the periods since the number last grew for the sake of losses
  double before_ = 0;  // bytes/s before that
  bool settled_ = false;
};

}  // namespace isthmus::core
