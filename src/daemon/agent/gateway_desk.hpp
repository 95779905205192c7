// The gateways of an agent, and the launcher's messages about them.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/world/world.hpp"
#include "daemon/agent/gateway_reports.hpp"
#include "daemon/agent/metrics.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/quorum.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/gateway/gateway_set.hpp"
#include "daemon/host/runtime_dir.hpp"
#include "daemon/launch/spawn_plan.hpp"
#include "daemon/metrics/metrics_server.hpp"
#include "daemon/service/guest_door.hpp"

namespace isthmus::daemon {

class GatewayDesk {
 public:
  /// `self` is the path of this program. All others outlive this object.
  GatewayDesk(asio::io_context& context, ControlChannel& channel, Orders& orders,
              GatewayReports& reports, std::string self);

  /// Opens the gateways' ports in a folder of the job. Throws Failure.
  void open(const ConfigureRequest& request);
  /// Serves metrics there, and returns the address. Throws Failure. After `open`.
  std::string serve_metrics(const std::string& at);

  /// Null before `open`.
  GatewaySet* set() const { return set_.get(); }
  /// Before `link`, it has no clusters.
  const core::World& world() const { return world_; }
  /// Before `link`, its JSON is empty.
  const Surroundings& surroundings() const { return around_; }
  /// The index of this agent's cluster, if that is in the world.
  std::optional<std::size_t> own_cluster() const;
  /// It has failed; the gateways may serve others.
  bool own_failed() const { return own_cluster() && quorum_.has_failed(*own_cluster()); }
  /// Has the world, its failed clusters and lost gateways. It has no suspicions.
  const Quorum& quorum() const { return quorum_; }
  /// The run goes on without a cluster.
  void forget(const FailedRequest& request);

 private:
  void link(const ControlMessage& message);
  void extend(const ControlMessage& message);
  void grow(const ControlMessage& message);
  void join(const ControlMessage& message);
  void serve(const ControlMessage& message);
  void part(const ControlMessage& message);
  void take_failed(const ControlMessage& message);
  void take_lost(const ControlMessage& message);
  void tell_spare(const ControlMessage& message);
  void answer(const ControlMessage& message);
  void where(const ControlMessage& message);

  std::string metrics() const;
  DoorCounts doors() const;
  void keep_counts();

  asio::io_context& context_;
  ControlChannel& channel_;
  Orders& orders_;
  GatewayReports& reports_;
  const std::string self_;
  std::string job_, cluster_;
  std::unique_ptr<RuntimeDir> runtime_dir_;
  std::unique_ptr<GatewaySet> set_;
  std::unique_ptr<GuestDoor> guest_door_;
  core::World world_;
  Surroundings around_;
  std::unique_ptr<MetricsServer> metrics_;
  asio::steady_timer count_timer_;
  std::map<std::string, bool> spares_;  // those that have joined, and whether they stay
  Quorum quorum_{{}, {}};
};

}  // namespace isthmus::daemon
