// Messages of control between a gateway and its peers: who may send which, and who learns it. Every
// gateway passes news for all on to its neighbours once, so it reaches all, whatever the routes.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "daemon/gateway/common.hpp"
#include "daemon/gateway/presence.hpp"
#include "daemon/gateway/processes.hpp"
#include "daemon/gateway/readiness.hpp"
#include "daemon/gateway/sharing.hpp"
#include "daemon/gateway/tuning.hpp"

namespace isthmus::daemon {

/// On the gateway's thread.
class Control {
 public:
  Control(Common& gateway, Processes& processes, Sharing& sharing, Tuning& tuning,
          Readiness& readiness, const Presence& presence)
      : gateway_(gateway),
        processes_(processes),
        sharing_(sharing),
        tuning_(tuning),
        readiness_(readiness),
        presence_(presence) {}

  /// A Control frame of a peer of this run. It is ignored if a later release added its kind, or if
  /// this peer may not send it. May call the user.
  void take(Peer& from, const core::InFrame& frame);
  /// The world is known, or has grown: some part of it may be ready.
  void check_ready();
  /// The launcher is lost. Tells the other gateways when no process is left here, and the user when
  /// none is left in the run.
  void go_on_alone() { alone_ = true; }
  /// Tells the other gateways, once, that this one agrees: as Gateway::agree.
  void agree(core::NodeId gateway);
  /// Tells the processes, and, without a launcher, the other gateways.
  void part(const net::control::Parted& news);
  /// To be called when a process or another gateway may have left.
  void check_done();

 private:
  void learn(Peer& from, const net::control::Joined& joined);
  void learn(Peer& from, const net::control::Link& link);
  void learn(Peer& from, const net::control::Lost& lost);
  void learn(Peer& from, const net::control::Without& body);
  void learn(Peer& from, const net::control::Other& other);
  void learn(Peer& from, const net::control::Here& here);
  void learn(Peer& from, const net::control::Ask& ask);
  void learn(Peer& from, const net::control::Crossed& crossed);
  void learn(Peer& from, const net::control::Count& all);
  void learn(Peer& from, const net::control::Abort& abort);
  void learn(Peer& from, const net::control::Fault& fault);
  void learn(Peer& from, const net::control::Done& done);
  void learn(Peer& from, const net::control::Parted& news);
  void learn(Peer& from, const net::control::Agrees& news);
  void learn(Peer& /*from*/, const auto& /*for processes*/) {}
  void learn_joined(core::NodeId gateway, int part, core::NodeId from);
  /// Suspects clusters that have left before their processes were done.
  void look_for_early();
  /// No process is here, and no other gateway is left to be heard of.
  bool deserted() const;

  Common& gateway_;
  Processes& processes_;
  Sharing& sharing_;
  Tuning& tuning_;
  Readiness& readiness_;
  const Presence& presence_;
  bool alone_ = false, all_done_ = false;
  std::set<core::NodeId> agreed_;                   // gateways
  std::set<std::string> parted_;                    // runs of which all gateways know
  std::set<std::pair<int, core::NodeId>> without_;  // processes, and the gateways they do without
};

}  // namespace isthmus::daemon
