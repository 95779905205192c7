// Processes of a cluster share a link's rate when they send to another cluster without gateways.
// Their gateway receives their claims, and sends each process its share (core/streams/shares.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/streams/shares.hpp"
#include "daemon/gateway/common.hpp"
#include "net/conduit/pacer.hpp"
#include "net/control/share_body.hpp"

namespace isthmus::daemon {

/// On the gateway's thread. Each call may make the router act.
class Sharing {
 public:
  explicit Sharing(Common& gateway) : gateway_(gateway) {}

  /// A process claims a part. Ignored before the world is known, or if the cluster is not of it.
  void learn(core::NodeId process, const net::ShareBody& body);
  /// The gateway's own traffic over the same link is one more claim, for processes that have no
  /// conduit. `pacer` holds that traffic back.
  void share(const Peer& link, const std::shared_ptr<net::Pacer>& pacer);
  /// A peer has gone.
  void forget(core::NodeId node);
  /// Some claim is there, so `tick` has something to do.
  bool active() const;
  /// Once in a period.
  void tick();

 private:
  using Clusters = std::pair<std::size_t, std::size_t>;  // that sends, that receives
  struct Own {
    Clusters clusters;
    std::shared_ptr<net::Pacer> pacer;
  };

  core::Time moment_of(const Clusters& clusters) const;
  void tell(const Clusters& clusters, core::Shares& shares, bool risen = false);
  void tell_rise(const Clusters& clusters);

  Common& gateway_;
  std::map<Clusters, core::Shares> shares_;
  std::set<Clusters> rising_;        // of these, whose members will hear of it
  std::map<core::NodeId, Own> own_;  // by the other end of the link
};

}  // namespace isthmus::daemon
