// The inside of Gateway: its parts, what they ask of it as a whole, and its end.
#pragma once

#include <asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "daemon/gateway/control.hpp"
#include "daemon/gateway/entrance.hpp"
#include "daemon/gateway/junctions.hpp"
#include "daemon/gateway/links.hpp"
#include "daemon/gateway/presence.hpp"
#include "daemon/gateway/processes.hpp"
#include "daemon/gateway/readiness.hpp"
#include "daemon/gateway/sharing.hpp"
#include "daemon/gateway/tuning.hpp"

namespace isthmus::daemon {

struct Gateway::State final : Common {
  State(asio::io_context& context, GatewayConfig settings, GatewayUser& hears);
  ~State() override { close_now(); }

  void act() override;
  bool fail(const net::ControlBody& news, const std::string& sentence,
            core::NodeId except) override;
  void plan_tuning() override { tuning.plan(); }
  void check_closed() override;
  bool frame(Peer& from, const core::InFrame& frame, std::uint16_t hops) override;
  void progress(Peer& peer) override;

  void welcome(net::Listener::Newcomer newcomer);
  std::optional<std::string> objection(const net::Listener::Newcomer& newcomer) const;
  void welcome_early();
  void close(std::function<void()> done);
  void close_now();
  /// Closes at once, and calls the user no more.
  void drop();

  Sharing sharing;
  Tuning tuning;
  Presence presence;
  Readiness readiness;
  Processes processes;
  Links links;
  Control control;
  Junctions junctions;
  std::optional<Entrance> entrance;  // from the first `listen` on

 private:
  void perform(const core::Router::Action& action);

  std::vector<net::Listener::Newcomer> early_;  // before the world is known, where it matters
  std::function<void()> close_done_;
  asio::steady_timer close_timer_;
};

}  // namespace isthmus::daemon
