// The links of a gateway: conduits to other gateways of its run. It opens some of them, and opens
// them again when they are lost; the other end opens the others.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "daemon/gateway/presence.hpp"
#include "daemon/gateway/readiness.hpp"
#include "daemon/gateway/sharing.hpp"
#include "daemon/gateway/tuning.hpp"

namespace isthmus::daemon {

/// On the gateway's thread.
class Links final : public StreamOpener, private PeerKind {
 public:
  using Done = std::function<void(const std::string& error)>;

  Links(Common& gateway, Tuning& tuning, Sharing& sharing, const Readiness& readiness,
        const Presence& presence);

  /// Makes conduits to all neighbours. Frames for them wait there until they connect.
  void expect(const core::Routes& next);
  /// Opens these. `done` is called once, later, as for Gateway::link.
  void open(std::vector<GatewayLink> links, Done done);
  /// This gateway has never served a cluster: closes the link to it, and opens it no more.
  void abandon(core::NodeId node);
  /// Calls `done` with this error. If it is empty: only once all links are up.
  void settle(const std::string& error);
  bool want_streams(core::NodeId to, int streams) override;

  /// The newcomer goes on with a conduit that it had with the gateway that was here before.
  bool stale(const net::Listener::Newcomer& newcomer) const;
  /// Why a gateway cannot be served; empty if it can.
  std::optional<std::string> objection(const net::Listener::Newcomer& newcomer) const;
  /// Takes the connection of a gateway without objections.
  void welcome(net::Listener::Newcomer newcomer);

  /// A cluster has failed: closes the links to its gateways, and opens them no more.
  void forget();

  /// Tries no more, and calls nobody.
  void close();

 private:
  struct Dialled {
    GatewayLink link;
    bool up = false;          // the peer's Hello has been heard once
    bool told_use = false;    // the other end: how the link is to be used
    bool told_small = false;  // the user: that the link takes small segments
    int dialling = 0;
    std::string last_failure;
  };

  void connected(Peer& peer) override;
  void lost(Peer& peer, const net::Loss& loss) override;
  void ended(Peer& peer) override;
  void dead(Peer& peer, const std::string& reason) override;

  Peer& add(core::NodeId node);
  core::ConduitConfig settings(core::NodeId node);
  void tell_what_is_known(Peer& peer);
  void closed_too_early(const Peer& peer);
  bool only_forwards(core::NodeId node) const;
  bool is_unused(core::NodeId node) const;
  void renew(Peer& peer);
  Dialled* dialled_to(core::NodeId to);
  std::string name(core::NodeId to) const;
  void time_is_up();
  int segment_to(core::NodeId to);
  void dial_all(core::NodeId to);
  void dial(core::NodeId to);
  asio::awaitable<void> dialling(std::shared_ptr<Common> alive, core::NodeId to);
  asio::awaitable<std::shared_ptr<net::Stream>> reach(GatewayLink link);

  Common& gateway_;
  Tuning& tuning_;
  Sharing& sharing_;
  const Readiness& readiness_;
  const Presence& presence_;
  std::map<core::NodeId, Dialled> dialled_;
  Done done_;
  asio::steady_timer timer_;
};

}  // namespace isthmus::daemon
