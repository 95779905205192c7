#include "net/door/host_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <asio/ip/address.hpp>
#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>
#include <memory>

#include "net/door/listener.hpp"
#include "net/host/address.hpp"

namespace isthmus::net {
namespace {

struct Own {
  std::string interface;
  asio::ip::address address;
  bool loopback = false;
};

/// The addresses of all interfaces that are up, except those that need their interface's name.
std::vector<Own> own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, ::freeifaddrs);
  std::vector<Own> found;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    const int family = i->ifa_addr->sa_family;
    if (family == AF_INET) {
      ::inet_ntop(family, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text,
                  sizeof text);
    } else if (family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6*>(i->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;
      ::inet_ntop(family, &address, text, sizeof text);
    } else {
      continue;
    }
    found.push_back(
        {i->ifa_name, asio::ip::make_address(text), (i->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

/// Whether an address is in a subnet; throws std::exception where the text is none.
bool is_in(const asio::ip::address& address, const std::string& subnet) {
  if (subnet.find(':') == std::string::npos) {
    const auto network = asio::ip::make_network_v4(subnet).canonical();
    return address.is_v4() &&
           asio::ip::network_v4(address.to_v4(), network.prefix_length()).canonical() == network;
  }
  const auto network = asio::ip::make_network_v6(subnet).canonical();
  return address.is_v6() &&
         asio::ip::network_v6(address.to_v6(), network.prefix_length()).canonical() == network;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::vector<std::string> host_addresses(std::uint16_t port) {
  std::vector<std::string> found, loopback;
  for (const Own& own : own_addresses()) {
    auto& list = own.loopback ? loopback : found;
    if (list.size() < 16)
      list.push_back(to_string(Address{false, {}, own.address.to_string(), port}));
  }
  return found.empty() ? loopback : found;
}

std::string at_own_address(const std::string& address) {
  if (!address.starts_with("tcp:")) return address;
  const std::size_t colon = address.rfind(':');
  std::string place = address.substr(4, colon - 4);
  if (place.starts_with('[')) place = place.substr(1, place.size() - 2);
  const bool is_interface = place.starts_with('%');
  if (!is_interface && place.find('/') == std::string::npos) return address;
  std::string others;
  for (const Own& own : own_addresses()) {
    const std::string text = own.address.to_string();
    if (is_interface ? own.interface == place.substr(1) : is_in(own.address, place)) {
      return "tcp:" + (own.address.is_v6() ? '[' + text + ']' : text) + address.substr(colon);
    }
    others += (others.empty() ? "" : ", ") + text + " (" + own.interface + ")";
  }
  throw ListenError(
      "has no address " +
          (is_interface ? "at the interface " + place.substr(1) : "in the subnet " + place) +
          "; this host has " + (others.empty() ? "none" : others),
      "Mend 'subnet' or 'interface' in [network.NAME], or 'address' in [[gateway]], "
      "of the grid file; or take the host out of the network.");
}

}  // namespace isthmus::net
