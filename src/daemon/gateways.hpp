// The gateways that one agent runs, as the agent sees them.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/requests.hpp"

namespace isthmus::daemon {

/// What gateways tell. Called on threads of their own.
struct GatewayEvents {
  std::function<void(int ranks)> joined;  ///< all ranks of this cluster have joined
  std::function<void()> finalized;        ///< all that joined have said goodbye
  std::function<void(int rank, int code, const std::string& message)> aborted;
  std::function<void(const std::string& message, int code)> fault;
};

class Gateways {
 public:
  /// Opens every gateway's ports; the first one also listens on `unix_path` for ranks of this
  /// host. Throws Failure that names the address.
  Gateways(const ConfigureRequest& request, const std::string& unix_path, GatewayEvents events);
  ~Gateways();
  Gateways(const Gateways&) = delete;
  Gateways& operator=(const Gateways&) = delete;

  struct Listening {
    core::NodeId node;
    std::vector<std::string> addresses;
  };
  std::vector<Listening> listening() const;

  /// Opens the links and learns the routes; calls `done` with nothing, or with what went wrong,
  /// within 10 s.
  void link(const LinkRequest& request, std::function<void(const std::string& trouble)> done);

  /// The list of docs/control.md's `stats`.
  nlohmann::json stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isthmus::daemon
