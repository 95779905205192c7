#include "daemon/gateway/entrance.hpp"

#include "net/host/software.hpp"

namespace isthmus::daemon {
namespace {

net::ListenerConfig settings_of(const Common& gateway, core::NodeId self,
                                net::Credentials credentials, bool accept_plain) {
  net::ListenerConfig settings;
  settings.self = self;
  settings.software = net::software();
  settings.credentials = std::move(credentials);
  settings.accept_plain = accept_plain;
  settings.handshake_timeout = gateway.config.handshake_timeout;
  return settings;
}

}  // namespace

Entrance::Entrance(Common& gateway, core::NodeId self, net::Credentials credentials,
                   bool accept_plain, Welcome welcome)
    : gateway_(gateway),
      self_(self),
      welcome_(std::move(welcome)),
      listener_(gateway.io, settings_of(gateway, self, std::move(credentials), accept_plain),
                *this) {}

void Entrance::rejected(const std::string& sentence) { gateway_.user->rejected(sentence); }

void Entrance::short_of_files(const std::string& sentence) {
  gateway_.user->warning(gateway_.name(gateway_.config.node) + " " + sentence);
}

void Entrance::await_calls(const net::Service& service, const std::string& trouble) {
  doors_.push_back(std::make_unique<net::ServiceDoor>(
      gateway_.io, service, self_,
      gateway_.guarded([this](net::Socket socket, const std::string& where) {
        listener_.adopt(std::move(socket), where);
      }),
      gateway_.guarded(
          [this, trouble](const std::string& sentence) { rejected(trouble + ": " + sentence); })));
}

void Entrance::close() {
  end_calls();
  listener_.close();
}

}  // namespace isthmus::daemon
