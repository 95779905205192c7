// What a Prometheus server may read of an agent while the job runs: the counters of its links, in
// the text format (version 0.0.4), over plain HTTP at /metrics.
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/world.hpp"
#include "daemon/gateway/gateway.hpp"

namespace isthmus::daemon {

/// One sample per link and counter; clusters by name, gateways of a cluster numbered from 0. Then
/// how many ranks each cluster in `joined` has, and how many have joined at the gateways here.
/// `crossings` is the list of docs/control.md's `stats`. It lacks what processes send each other
/// without gateways: they tell it when they leave.
std::string metrics_text(const std::string& job, const core::World& world,
                         const std::vector<LinkCount>& counts,
                         const std::map<std::string, int>& joined = {},
                         const nlohmann::json& crossings = nlohmann::json::array());

class MetricsServer {
 public:
  /// Serves `text()` at "tcp:host:port". Throws Failure that names an address that it can't have.
  MetricsServer(asio::io_context& io, const std::string& address,
                std::function<std::string()> text);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// With the port filled in.
  std::string address() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
