// The processes of a gateway's clusters: how they join, connect again, leave and die.
#pragma once

#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "daemon/gateway/presence.hpp"
#include "daemon/gateway/sharing.hpp"

namespace isthmus::daemon {

/// On the gateway's thread. `presence` is written here alone.
class Processes final : private PeerKind {
 public:
  Processes(Common& gateway, Sharing& sharing, Presence& presence)
      : gateway_(gateway), sharing_(sharing), presence_(presence) {}

  /// Why a process cannot be served; empty if it can.
  std::optional<std::string> objection(const net::Listener::Newcomer& newcomer) const;
  /// Takes the connection of a process without objections.
  void welcome(net::Listener::Newcomer newcomer);
  /// It is connected to all gateways here. Returns its part of the world if that is whole now.
  /// Calls GatewayUser::joined after the last of a cluster.
  std::optional<int> join(Peer& process, const std::string& host);
  /// It has lost this gateway, and goes on by others.
  void goes_on_without(core::NodeId process);
  /// All processes of a part may begin.
  void begin(int part);
  /// The world has grown: these learn it, and those that join later.
  void grow(const core::Growth& growth);
  /// The cluster has failed: its processes are gone, the others learn it, and those that join
  /// later.
  void forget(std::size_t cluster, const std::string& why);
  /// Tells the news to these processes once, and to those that join later.
  void tell(const net::control::Spare& news);
  /// False: that is not connected here.
  bool answer(core::NodeId process, std::uint64_t number, const std::string& reply);

  bool all_joined(int part) const;
  /// Some process has been lost here, and may go on by other gateways.
  bool any_gone() const;
  /// The processes of that cluster have ended.
  void have_ended(std::size_t cluster) { ended_.insert(cluster); }

  /// Asks all what they have sent without gateways, if they have answered before.
  void ask_crossed();
  void learn(Peer& process, const net::control::Crossed& body);
  void learn(Peer& process, const net::control::Count& all);
  Gateway::Crossed crossed(bool only_of_left) const;
  std::map<std::size_t, NearCount> near() const;

 private:
  struct Process {
    bool joined = false;
    std::string host;     // once it has joined
    bool counts = false;  // asked what it has sent without gateways, has not answered
    std::map<std::size_t, net::DirectCount> crossed;  // that, by cluster
    std::string last_failure;                         // of its connection
    std::unique_ptr<asio::steady_timer> reconnect;    // until then it may connect again
  };

  void connected(Peer& peer) override;
  void lost(Peer& peer, const net::Loss& loss) override;
  void ended(Peer& peer) override;
  void dead(Peer& peer, const std::string& reason) override;

  Peer& add(const net::Listener::Newcomer& newcomer);
  std::size_t cluster_of(const Peer& process) const;
  void suspect(const Peer& peer, const std::string& sentence);
  void await_reconnect(const Peer& peer, const std::string& sentence);
  bool all_gone() const;

  Common& gateway_;
  Sharing& sharing_;
  Presence& presence_;
  std::map<core::NodeId, Process> processes_;
  std::vector<core::Growth> growths_;           // of the world, ever
  std::vector<net::control::Failed> failures_;  // of clusters, ever
  std::vector<net::control::Spare> spares_;     // news of them, ever; the launcher bounds them
  std::set<std::size_t> ended_;                 // clusters
  bool told_gone_on_ = false;  // to the user: some process goes on without this gateway
};

}  // namespace isthmus::daemon
