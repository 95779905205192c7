#include "net/host/congestion.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <fstream>

namespace isthmus::net {

std::string congestion_of(int socket) {
  std::array<char, 16> name{};  // TCP_CA_NAME_MAX
  socklen_t size = name.size() - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return {};
  return name.data();
}

std::error_code set_congestion(int socket, const std::string& name) {
  const std::string now = congestion_of(socket);
  if (now.empty() || now == name) return {};
  const auto size = static_cast<socklen_t>(name.size());
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), size) == 0) return {};
  return errno == EPERM ? std::make_error_code(std::errc::permission_denied)
                        : std::error_code(errno, std::generic_category());
}

bool begins_anew_after_pauses(int socket) {
  const std::string name = congestion_of(socket);
  // These set the window by what they have measured of the path, which a pause does not change.
  if (name.empty() || name.starts_with("bbr")) return false;
  std::ifstream file("/proc/sys/net/ipv4/tcp_slow_start_after_idle");
  int on = 1;  // Linux's own default
  return !(file >> on) || on != 0;
}

}  // namespace isthmus::net
