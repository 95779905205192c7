#include "net/stream/peer.hpp"

#include <sys/socket.h>

#include <cstring>

#include "net/host/address.hpp"

namespace isthmus::net {
namespace {

using asio::ip::tcp;

std::optional<Peer> of_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  std::array<std::uint8_t, 4> user{};
  std::memcpy(user.data(), &peer.uid, user.size());
  return Peer{core::PeerAddress::of_v4(user), "", "a process on this host", true};
}

Peer of_endpoint(const tcp::endpoint& endpoint) {
  // A socket for both kinds of addresses shows those of the older kind in the newer one's form.
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  const std::string host = address.to_string();
  return {address.is_v4() ? core::PeerAddress::of_v4(address.to_v4().to_bytes())
                          : core::PeerAddress::of_v6(address.to_v6().to_bytes()),
          host, to_string(Address{false, {}, host, endpoint.port()}), address.is_loopback()};
}

}  // namespace

std::optional<Peer> peer_of(const Socket& socket, bool is_unix) {
  // Asking for its number changes nothing.
  if (is_unix) return of_user(const_cast<Socket&>(socket).native_handle());
  std::error_code error;
  const auto generic = socket.remote_endpoint(error);
  if (error) return std::nullopt;
  tcp::endpoint endpoint;
  endpoint.resize(generic.size());
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  return of_endpoint(endpoint);
}

std::optional<Peer> peer_of(const tcp::socket& socket) {
  std::error_code error;
  const tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (error) return std::nullopt;
  return of_endpoint(endpoint);
}

}  // namespace isthmus::net
