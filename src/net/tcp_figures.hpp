// What the kernel has measured of a TCP connection.
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

/// Nothing when the socket is not of TCP, or gone.
std::optional<TcpFigures> tcp_figures(int socket);

/// How many bytes more TCP would send at once on this socket, as long after a pause as it is; less
/// than none where bytes wait already. 0 when it is not of TCP, or gone.
std::int64_t room_in_window(int socket);

/// How many bytes may wait in the kernel for their turn to be sent, beyond those in flight. What is
/// there cannot be overtaken by small messages.
void set_unsent(int socket, int bytes);

/// The pace, in bytes of payload a second, that stays just under a link's rate on the wire, so that
/// no queue builds up on the way and small messages pass at once: 1 % costs less than that.
/// `segment` is the payload of a full segment, 0: unknown; 52 bytes of headers go with each (IP,
/// and TCP with timestamps).
double paced(double rate, std::uint32_t segment = 0);

/// The largest window that this host's kernel gives one TCP connection, in bytes: the ceilings of
/// its automatic buffers (net.ipv4.tcp_wmem, net.ipv4.tcp_rmem), of which a quarter is sure to
/// carry data: the rest is the kernel's own room and slack.
std::uint64_t tcp_window_ceiling();

}  // namespace isthmus::net
