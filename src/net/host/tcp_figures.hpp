// The kernel's measurements of a TCP connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace isthmus::net {

struct TcpFigures {
  std::chrono::microseconds rtt{};      ///< smoothed
  std::chrono::microseconds min_rtt{};  ///< the shortest of the last minutes
  std::uint32_t segment = 0;            ///< payload bytes of a full segment
  std::uint64_t window = 0;    ///< bytes that may be under way now: after a pause the least
  std::uint64_t acked = 0;     ///< bytes, ever
  std::uint64_t sent = 0;      ///< bytes, with those sent again, ever
  std::uint64_t repeated = 0;  ///< bytes sent again, ever
  std::uint32_t unacked = 0;   ///< segments under way
  unsigned timeouts = 0;       ///< of the segment that is awaited now, in a row
  /// Time with something to send, ever; and of it, held back by the buffers of the two kernels.
  std::chrono::microseconds busy{}, limited{};
};

/// Empty if the socket is not TCP, or gone.
std::optional<TcpFigures> tcp_figures(int socket);

/// The number of further bytes that TCP would send at once on this socket, however long it paused.
/// Negative if bytes wait already. 0 if it is not TCP, or gone.
std::int64_t room_in_window(int socket);

/// Bounds the bytes that may wait in the kernel for their turn, beyond those in flight. Small
/// messages cannot overtake bytes there.
void set_unsent(int socket, int bytes);

/// The pace, in bytes of payload a second, just under a link's rate on the wire. So no queue grows
/// on the way, and small messages pass at once. The 1 % that this gives away costs less than a
/// queue. `segment` is the payload of a full segment, or 0 if unknown. Each segment has 52 bytes of
/// headers (IP, and TCP with timestamps).
double paced(double rate, std::uint32_t segment = 0);

/// The largest window that this host's kernel gives one TCP connection, in bytes. It follows from
/// the limits of automatic buffers (net.ipv4.tcp_wmem, net.ipv4.tcp_rmem). A quarter of them is
/// sure to carry data, and the rest is the kernel's own room and slack.
std::uint64_t tcp_window_ceiling();

}  // namespace isthmus::net
