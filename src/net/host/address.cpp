#include "net/host/address.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <stdexcept>

namespace isthmus::net {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw std::invalid_argument(
      "the address \"" + text + "\" " + why +
      "; allowed are unix:/path, shm:name, tcp:host:port and tcp:[ipv6]:port");
}

}  // namespace

Address parse_address(const std::string& text) {
  Address address;
  if (text.starts_with("unix:")) {
    address.is_unix = true;
    address.path = text.substr(5);
    if (address.path.empty() || address.path[0] != '/') refuse(text, "lacks an absolute path");
    constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (address.path.size() > longest) {
      refuse(text, "has a path of more than " + std::to_string(longest) + " bytes");
    }
    return address;
  }
  if (text.starts_with("shm:")) {
    address.is_unix = address.shares_memory = true;
    address.path = text.substr(4);
    constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (address.path.empty() || address.path.size() > longest) {
      refuse(text, "has no name of 1 to " + std::to_string(longest) + " bytes");
    }
    return address;
  }
  if (!text.starts_with("tcp:")) refuse(text, "names no known transport");
  const std::size_t colon = text.rfind(':');
  if (colon <= 4) refuse(text, "lacks a host or a port");
  address.host = text.substr(4, colon - 4);
  if (address.host.front() == '[') {
    if (address.host.back() != ']' || address.host.size() < 3) refuse(text, "has a stray bracket");
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    refuse(text, "has an IPv6 host without brackets");
  }
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(first, last, address.port);
  if (error == std::errc{} && end != last && *end == '-') {
    const auto range = std::from_chars(end + 1, last, address.last_port);
    if (range.ec != std::errc{} || range.ptr != last || address.port == 0 ||
        address.last_port < address.port) {
      refuse(text, "has no range of ports from 1 to 65535");
    }
    end = last;
  }
  if (error != std::errc{} || end != last) refuse(text, "has no port from 0 to 65535");
  return address;
}

std::string to_string(const Address& address) {
  if (address.is_unix) return (address.shares_memory ? "shm:" : "unix:") + address.path;
  const bool v6 = address.host.find(':') != std::string::npos;
  return "tcp:" + (v6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port) +
         (address.last_port != 0 ? "-" + std::to_string(address.last_port) : "");
}

std::string listening_host(const std::string& host) {
  if (host != "::") return host;
  const int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return "0.0.0.0";
  ::close(socket);
  return host;
}

asio::local::stream_protocol::endpoint unix_endpoint(const Address& address) {
  return address.shares_memory ? std::string(1, '\0') + address.path : address.path;
}

}  // namespace isthmus::net
