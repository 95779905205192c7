#include "daemon/gateway/entrance.hpp"

#include <utility>

#include "net/software.hpp"

namespace isthmus::daemon {
namespace {

net::ListenerConfig settings_of(Common& gateway, core::NodeId self, net::Credentials credentials,
                                bool accept_plain) {
  net::ListenerConfig settings;
  settings.self = self;
  settings.software = net::software();
  settings.credentials = std::move(credentials);
  settings.accept_plain = accept_plain;
  settings.handshake_timeout = gateway.config.handshake_timeout;
  settings.short_of_files = gateway.guarded([&gateway](const std::string& sentence) {
    if (!gateway.events.warning) return;
    gateway.events.warning(gateway.name(gateway.config.node) + " " + sentence);
  });
  return settings;
}

}  // namespace

Entrance::Entrance(Common& gateway, core::NodeId self, net::Credentials credentials,
                   bool accept_plain, net::Listener::Accepted welcome)
    : gateway_(gateway),
      self_(self),
      listener_(gateway.io, settings_of(gateway, self, std::move(credentials), accept_plain),
                gateway.guarded(std::move(welcome)),
                gateway.guarded([&gateway](const std::string& sentence) {
                  if (gateway.events.rejected) gateway.events.rejected(sentence);
                })) {}

void Entrance::await_calls(const net::Service& service, const std::string& trouble) {
  doors_.push_back(std::make_unique<net::ServiceDoor>(
      gateway_.io, service, self_,
      gateway_.guarded([this](net::Socket socket, const std::string& where) {
        listener_.adopt(std::move(socket), where);
      }),
      gateway_.guarded([this, trouble](const std::string& sentence) {
        if (gateway_.events.rejected) gateway_.events.rejected(trouble + ": " + sentence);
      })));
}

void Entrance::close() {
  end_calls();
  listener_.close();
}

}  // namespace isthmus::daemon
