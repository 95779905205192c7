#include "net/host_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <memory>

#include "net/address.hpp"

namespace isthmus::net {

std::vector<std::string> host_addresses(std::uint16_t port) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, ::freeifaddrs);
  std::vector<std::string> found, loopback;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    const int family = i->ifa_addr->sa_family;
    if (family == AF_INET) {
      ::inet_ntop(family, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text,
                  sizeof text);
    } else if (family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6*>(i->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;  // of no use without its interface
      ::inet_ntop(family, &address, text, sizeof text);
    } else {
      continue;
    }
    auto& list = (i->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found;
    if (list.size() < 16) list.push_back(to_string(Address{false, {}, text, port}));
  }
  return found.empty() ? loopback : found;
}

}  // namespace isthmus::net
