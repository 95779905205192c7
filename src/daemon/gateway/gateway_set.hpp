// The gateways that one agent runs, as the agent sees them.
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/control/requests.hpp"
#include "daemon/gateway/gateway.hpp"

namespace isthmus::daemon {

class GatewaySet {
 public:
  /// Opens every gateway's ports, and for each a unix socket in `folder`. Throws Failure that
  /// names the address. The user outlives this object, and hears from all gateways on the context's
  /// thread. A cluster joins once, and a fault or an abort comes once. `abandoned` means all
  /// gateways. Few of many rejections come.
  GatewaySet(asio::io_context& context, const ConfigureRequest& request, const std::string& folder,
             GatewayUser& user);
  ~GatewaySet();
  GatewaySet(const GatewaySet&) = delete;
  GatewaySet& operator=(const GatewaySet&) = delete;

  /// {node, addresses} of each: its unix socket first, then what was asked for, ports filled in.
  nlohmann::json listening() const;

  /// Opens the links and learns the routes. Throws Failure for a link or route that is not of one
  /// of these gateways; else calls `done` once, with nothing or with what went wrong.
  void link(const LinkRequest& request, std::function<void(const std::string& trouble)> done);

  /// As Gateway::extend, for all gateways; throws and answers as `link`.
  void extend(const ExtendRequest& request, std::function<void(const std::string& trouble)> done);

  /// The world has grown, for all gateways. Throws as Gateway::grow.
  void grow(const GrowRequest& request);

  /// As Gateway::join; throws Failure. `done` is given where it listens, or what went wrong.
  using Joined =
      std::function<void(const std::vector<std::string>& at, const std::string& trouble)>;
  void join(const JunctionRequest& request, const Joined& done);
  /// Places to listen beside one of the gateways: "tcp:host:0", or a range. Throws Failure.
  std::vector<std::string> places_beside(core::NodeId node) const;
  /// As Gateway::part, for all gateways.
  void part(const PartRequest& request);

  /// As Gateway::read_come, for all gateways; the user hears of it before this returns.
  void read_come();

  /// As Gateway::failed, for all gateways.
  void failed(const FailedRequest& request);

  /// As Gateway::go_on_alone, for all gateways. They report to this user from now on, who hears of
  /// `all_done` when all have said it.
  void go_on_alone(GatewayUser& user);

  /// As Gateway::agree, for all gateways.
  void agree(core::NodeId gateway);

  /// As Gateway::have_ended, for all gateways.
  void have_ended(std::size_t cluster);

  /// As Gateway::spare, for all gateways.
  void spare(const net::control::Spare& news);

  /// As Gateway::ask_crossed.
  void ask_crossed();

  /// As Gateway::ask_where.
  void ask_where(bool traces);

  /// Takes the launcher's answer to a process, by a gateway that it is connected to.
  void answer(core::NodeId process, std::uint64_t number, const std::string& reply);

  bool joined() const;             ///< all ranks of this cluster have joined
  bool ready() const;              ///< all ranks of the run have, as far as a gateway here knows
  bool finished() const;           ///< ... and left in good order
  bool rank_died() const;          ///< without leaving
  std::string first_died() const;  ///< what is said of the first such rank, or nothing
  std::map<std::string, int> joined_ranks() const;  ///< how many have, of each cluster
  /// The traffic of each link from this side.
  std::vector<LinkCount> counts() const;
  /// The counts of each gateway, by its node.
  std::map<core::NodeId, TurnedAway> turned_away() const;
  /// The lists of docs/control.md's `stats`.
  nlohmann::json stats() const;
  nlohmann::json direct_stats() const;
  nlohmann::json direct_stats_of_left() const;  ///< of processes that have left
  nlohmann::json crossing_stats() const;
  nlohmann::json near_stats() const;
  /// Says goodbye to all; `done` is called within about a second.
  void close(const std::function<void()>& done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
