// The user of a gateway that keeps the first of each thing it hears. For tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/gateway/awaited.hpp"
#include "daemon/gateway/gateway.hpp"

namespace isthmus::daemon {

/// Called on the gateway's thread; the members are for any thread.
class Heard final : public GatewayUser {
 public:
  using Answer = std::function<void(core::NodeId, std::uint64_t, const std::string&)>;

  /// A request of a process is answered with its own words.
  Heard(std::size_t clusters, Answer answer) : suspicions(clusters), answer_(std::move(answer)) {}

  Awaited<std::string> faults, warnings, rejections;
  Awaited<bool> abandonment;
  Awaited<LinkSilence> silences, silences_over;
  std::vector<Awaited<std::string>> suspicions;  ///< by cluster
  Awaited<core::NodeId> agreement;

  void fault(const std::string& message, int) override { faults.set(message); }
  void abort(int rank, int code, const std::string& message) override {
    faults.set("abort " + std::to_string(rank) + " " + std::to_string(code) + " " + message);
  }
  void suspect(core::NodeId, std::size_t cluster, const std::string& sentence) override {
    suspicions[cluster].set(sentence);
  }
  void agreed(core::NodeId gateway) override { agreement.set(gateway); }
  void abandoned() override { abandonment.set(true); }
  void warning(const std::string& sentence) override { warnings.set(sentence); }
  void silence(const LinkSilence& silence) override {
    (silence.over ? silences_over : silences).set(silence);
  }
  void ask(core::NodeId process, std::uint64_t number, const std::string& request) override {
    answer_(process, number, "rank " + std::to_string(process) + " " + request);
  }
  void rejected(const std::string& sentence) override { rejections.set(sentence); }

 private:
  Answer answer_;
};

}  // namespace isthmus::daemon
