// The state of a set of gateways, and of the news from them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/gateway/gateway.hpp"
#include "daemon/gateway/gateway_set.hpp"
#include "daemon/gateway/gateway_thread.hpp"
#include "daemon/log/rare_lines.hpp"

namespace isthmus::daemon {

/// Ends a gateway where it lives.
struct EndOfGateway {
  GatewayThread* thread;
  void operator()(Gateway* gateway) const {
    thread->post([owned = std::unique_ptr<Gateway>(gateway)] {});
  }
};
using GatewayThere = std::unique_ptr<Gateway, EndOfGateway>;

/// One of the set.
struct GatewayMember {
  core::NodeId node;
  std::vector<std::string> addresses;
  std::vector<std::string> listen;  // as the launcher had it
  std::unique_ptr<GatewayThread> thread;
  GatewayThere gateway;

  /// Has its thread do something with it, and waits.
  template <class Work>
  auto ask(Work work) const {
    return thread->call([&] { return std::invoke(work, *gateway); });
  }
  /// Nobody waits.
  template <class Work>
  void want(Work work) const {
    thread->post([work = std::move(work), gateway = gateway.get()]() mutable { work(*gateway); });
  }
};

struct GatewaySet::State {
  GatewaySetEvents events;
  std::vector<GatewayMember> members;
  std::string cluster;  // whose agent this is
  std::string folder;
  std::set<std::string> told_joined;
  log::RareLines<std::string> rejected;
  std::size_t abandoned = 0;  // of the members

  /// The attendance of a cluster, from the gateway that knows most. A rank joins at all gateways or
  /// at none.
  Attendance best(const std::string& of) const;
  /// Throws Failure, that the control message `op` names one of another agent.
  const GatewayMember& member(core::NodeId node, const char* op) const;
  /// The events of a gateway that lives on `thread`.
  Gateway::Events heard_by(GatewayThread& thread, core::NodeId node);

 private:
  void once_joined(const std::string& of);
  void once_fault(core::NodeId from, const std::string& message, int code);
  void once_abort(int rank, int code, const std::string& message);
  void rarely_rejected(const std::string& message);
};

}  // namespace isthmus::daemon
