// The gateway as its parts see it: their shared data, and requests to the whole gateway.
#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/router/router.hpp"
#include "daemon/gateway/gateway.hpp"
#include "daemon/gateway/peers.hpp"
#include "net/control/control_body.hpp"

namespace isthmus::daemon {

/// Implemented by Gateway::State, which owns the parts, and by tests. All calls are on the
/// gateway's thread. None of them blocks or throws.
struct Common : std::enable_shared_from_this<Common>, PeerTraffic {
  Common(asio::io_context& context, GatewayConfig settings, GatewayUser& hears);
  virtual ~Common() = default;
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;

  /// Does what the router wants done. May call the user, and peers' kinds.
  virtual void act() = 0;
  /// The job cannot go on, as `news` says to all peers except one. False: that was known. Calls no
  /// user.
  virtual bool fail(const net::ControlBody& news, const std::string& sentence,
                    core::NodeId except) = 0;
  /// A link, or a claim on a rate, is to be looked at before long. Calls nobody back.
  virtual void plan_tuning() = 0;
  /// While it closes a conduit has gone, or has sent what it had: closes all after the last.
  virtual void check_closed() = 0;

  /// The job cannot go on, since something broke here. Calls GatewayUser::fault, once.
  void fault(const std::string& sentence, int code = 1);
  /// As `fault`, of a cluster: if the run survives, it goes on, and GatewayUser::suspect is called.
  void suspect(std::size_t cluster, const std::string& sentence);
  /// The user has been told so. The launcher decides what follows.
  bool suspects(std::size_t cluster) const { return suspected_.contains(cluster); }
  bool over() const { return closing || closed || faulted; }
  std::string name(core::NodeId node) const;
  /// The service at this address; null: it has no key for it.
  const net::Service* service_at(const std::string& at) const;

  /// `work`, to be called later: it does nothing once the gateway is gone.
  template <class Work>
  auto guarded(Work work) {
    return [weak = weak_from_this(), work = std::move(work)](auto&&... values) {
      if (const auto alive = weak.lock()) work(std::forward<decltype(values)>(values)...);
    };
  }

  asio::io_context& io;
  const GatewayConfig config;
  GatewayUser* user;
  core::Router router;
  Peers peers;
  bool faulted = false, closing = false, closed = false;

 private:
  std::set<std::size_t> suspected_;
};

}  // namespace isthmus::daemon
