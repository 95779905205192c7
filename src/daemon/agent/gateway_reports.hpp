// Turns the news of an agent's gateways into messages for the launcher (docs/control.md).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "daemon/control/control_channel.hpp"
#include "daemon/gateway/gateway_set.hpp"

namespace isthmus::daemon {

/// The state of an agent that ends.
struct AgentEnding {
  /// The ranks, if they have joined, have been told of a fault or abort, and end by themselves.
  bool broken = false;
  bool stopping = false;
  bool dismissed = false;  ///< the launcher has ended the ranks, or the agent
};

/// Sets `broken`. Failures are not reported after `stopping` is set.
class GatewayReports final : public GatewayUser {
 public:
  /// All outlive this object. `abandoned` is GatewayUser's.
  GatewayReports(ControlChannel& channel, AgentEnding& ending, std::function<void()> abandoned)
      : channel_(channel), ending_(ending), abandoned_(std::move(abandoned)) {}

  void joined(const std::string& cluster, int size) override;
  void abort(int rank, int code, const std::string& text) override;
  void fault(const std::string& text, int code) override;
  void suspect(core::NodeId gateway, std::size_t cluster, const std::string& text) override;
  void warning(const std::string& text) override;
  void rejected(const std::string& text) override;
  void abandoned() override { abandoned_(); }
  void silence(const LinkSilence& silence) override;
  void agreed(core::NodeId gateway) override {
    agreed_.emplace(gateway, std::chrono::steady_clock::now());
  }
  void parted(const std::string& run, const std::string& message) override;
  void ask(core::NodeId process, std::uint64_t number, const std::string& text) override;
  void here(const std::string& whereabouts) override;

  /// Questions that the launcher has not answered: the process and its number of each, and its
  /// text.
  using Questions = std::map<std::pair<core::NodeId, std::uint64_t>, std::string>;
  const Questions& unanswered() const { return unanswered_; }
  void answered(core::NodeId process, std::uint64_t number) {
    unanswered_.erase({process, number});
  }
  /// Clusters that were suspected, even if they have failed since.
  const std::set<std::size_t>& suspected() const { return suspected_; }
  /// Gateways that agree to give up the clusters beside the launcher, and since when.
  using Agreements = std::map<core::NodeId, std::chrono::steady_clock::time_point>;
  const Agreements& agreed() const { return agreed_; }

 private:
  void notice(const std::string& text, bool warning);

  ControlChannel& channel_;
  AgentEnding& ending_;
  const std::function<void()> abandoned_;
  Questions unanswered_;
  std::set<std::size_t> suspected_;
  Agreements agreed_;
};

}  // namespace isthmus::daemon
