#include "net/host/tcp_figures.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>

namespace isthmus::net {

namespace {

constexpr std::int64_t kInitialSegments = 10;  // RFC 6928

std::optional<tcp_info> info_of(int socket) {
  tcp_info info{};  // what an older kernel does not fill in stays 0
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return info;
}

// Segments that may be in flight: few after a pause, if the kernel begins again.
std::int64_t window_of(const tcp_info& info) {
  const std::int64_t window = info.tcpi_snd_cwnd;
  const bool paused = info.tcpi_last_data_sent > info.tcpi_rto / 1000;  // ms, us
  return paused ? std::min(window, kInitialSegments) : window;
}

}  // namespace

std::optional<TcpFigures> tcp_figures(int socket) {
  const auto known = info_of(socket);
  if (!known) return std::nullopt;
  const tcp_info& info = *known;
  TcpFigures figures;
  figures.rtt = std::chrono::microseconds(info.tcpi_rtt);
  figures.min_rtt = std::chrono::microseconds(info.tcpi_min_rtt);
  figures.segment = info.tcpi_snd_mss;
  figures.window = static_cast<std::uint64_t>(window_of(info)) * info.tcpi_snd_mss;
  figures.acked = info.tcpi_bytes_acked;
  figures.sent = info.tcpi_bytes_sent;
  figures.repeated = info.tcpi_bytes_retrans;
  figures.unacked = info.tcpi_unacked;
  figures.timeouts = info.tcpi_retransmits;
  figures.busy = std::chrono::microseconds(info.tcpi_busy_time);
  figures.limited = std::chrono::microseconds(info.tcpi_rwnd_limited + info.tcpi_sndbuf_limited);
  return figures;
}

std::int64_t room_in_window(int socket) {
  const auto info = info_of(socket);
  if (!info) return 0;
  return (window_of(*info) - info->tcpi_unacked) * info->tcpi_snd_mss - info->tcpi_notsent_bytes;
}

void set_unsent(int socket, int bytes) {
  ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

double paced(double rate, std::uint32_t segment) {
  const double payload = segment == 0 ? 1448 : segment;
  return 0.99 * rate * payload / (payload + 90);
}

std::uint64_t tcp_window_ceiling() {
  const auto third = [](const char* path) {
    std::ifstream file(path);
    std::uint64_t least = 0, start = 0, most = 0;
    return file >> least >> start >> most ? most : std::uint64_t{4} << 20;  // Linux's own default
  };
  return std::min(third("/proc/sys/net/ipv4/tcp_wmem"), third("/proc/sys/net/ipv4/tcp_rmem")) / 4;
}

}  // namespace isthmus::net
