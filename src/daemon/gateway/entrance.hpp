// The entrance for newcomers: ports, unix sockets, and calls at services.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "net/door/listener.hpp"
#include "net/door/service.hpp"

namespace isthmus::daemon {

/// On the gateway's thread. Calls GatewayUser::rejected for newcomers that are turned away, and for
/// services that cannot be reached.
class Entrance final : net::ListenerUser {
 public:
  using Welcome = std::function<void(net::Listener::Newcomer)>;

  /// Newcomers are for `self` and know the credentials. `welcome` takes each; nobody is welcomed
  /// after `close`, or after the gateway's end.
  Entrance(Common& gateway, core::NodeId self, net::Credentials credentials, bool accept_plain,
           Welcome welcome);

  /// As net::Listener::listen.
  std::string listen(const std::string& address) { return listener_.listen(address); }
  /// Calls come in, too. `trouble` begins the sentence about a service that does not have them.
  void await_calls(const net::Service& service, const std::string& trouble);
  net::DoorCount turned_away() const { return listener_.turned_away(); }
  void end_calls() { doors_.clear(); }
  void close();

 private:
  void accepted(net::Listener::Newcomer newcomer) override { welcome_(std::move(newcomer)); }
  void rejected(const std::string& sentence) override;
  void short_of_files(const std::string& sentence) override;

  Common& gateway_;
  core::NodeId self_;
  const Welcome welcome_;
  net::Listener listener_;
  std::vector<std::unique_ptr<net::ServiceDoor>> doors_;
};

}  // namespace isthmus::daemon
