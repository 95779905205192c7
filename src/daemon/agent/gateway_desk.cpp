#include "daemon/agent/gateway_desk.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/trace/trace.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

// Between two questions to the ranks for what they send without gateways, where metrics are served.
constexpr std::chrono::seconds kCountInterval{1};

}  // namespace

GatewayDesk::GatewayDesk(asio::io_context& context, ControlChannel& channel, Orders& orders,
                         GatewayReports& reports, std::string self)
    : context_(context),
      channel_(channel),
      orders_(orders),
      reports_(reports),
      self_(std::move(self)),
      count_timer_(context) {
  orders.on("link", *this, &GatewayDesk::link);
  orders.on("extend", *this, &GatewayDesk::extend);
  orders.on("grow", *this, &GatewayDesk::grow);
  orders.on("junction", *this, &GatewayDesk::join);
  orders.on("serve", *this, &GatewayDesk::serve);
  orders.on("part", *this, &GatewayDesk::part);
  orders.on("failed", *this, &GatewayDesk::take_failed);
  orders.on("lost", *this, &GatewayDesk::take_lost);
  orders.on("spare", *this, &GatewayDesk::tell_spare);
  orders.on("answer", *this, &GatewayDesk::answer);
  orders.on("where", *this, &GatewayDesk::where);
}

void GatewayDesk::open(const ConfigureRequest& request) {
  job_ = request.job;
  cluster_ = request.cluster;
  runtime_dir_ = std::make_unique<RuntimeDir>(request.job);
  set_ = std::make_unique<GatewaySet>(context_, request, runtime_dir_->path(), reports_);
  log::info("gateways listen: {}", set_->listening().dump());
}

// ---- the launcher's messages ------------------------------------------------------------------

void GatewayDesk::link(const ControlMessage& message) {
  if (!set_) too_early("link", "configure");
  const LinkRequest request = read_link(message.body);
  world_ = request.world;
  quorum_ = Quorum(request.world, request.beside);
  around_ = {core::world_to_json(request.world), request.world.size(), runtime_dir_->has_siblings(),
             runtime_dir_->path()};
  set_->link(request, [this](const std::string& trouble) {
    if (!trouble.empty()) return orders_.fail(trouble);
    log::info("all links from here stand");
    channel_.send({{"op", "linked"}});
  });
}

void GatewayDesk::extend(const ControlMessage& message) {
  const ExtendRequest request = read_extend(message.body);
  if (around_.world_json.empty()) too_early("extend", "link");
  for (const auto& [node, name] : request.gateways) world_.add_gateway(node, name);
  set_->extend(request, [this](const std::string& trouble) {
    if (!trouble.empty()) return orders_.fail(trouble);
    channel_.send({{"op", "extended"}});
  });
}

void GatewayDesk::grow(const ControlMessage& message) {
  const GrowRequest request = read_grow(message.body);
  const core::Growth& growth = request.growth;
  if (around_.world_json.empty()) too_early("grow", "link");
  set_->grow(request);
  world_.grow(growth);
  quorum_.grow();
  log::info("the world has grown by {} ranks, as cluster {}", growth.cluster.size,
            growth.cluster.name);
  channel_.send({{"op", "grown"}});
}

void GatewayDesk::join(const ControlMessage& message) {
  if (!set_) too_early("junction", "configure");
  set_->join(read_junction(message.body),
             [this](const std::vector<std::string>& at, const std::string& trouble) {
               if (!trouble.empty()) return orders_.fail(trouble);
               channel_.send({{"op", "junction"}, {"addresses", at}});
             });
}

void GatewayDesk::serve(const ControlMessage& message) {
  if (!set_) too_early("serve", "configure");
  if (guest_door_) throw Failure("the control message 'serve' came twice");
  const ServeRequest request = read_serve(message.body);
  guest_door_ = std::make_unique<GuestDoor>(context_, self_, request.key, request.secret);
  json at = json::array();
  const auto places = request.listen.empty() ? set_->places_beside(request.node) : request.listen;
  for (const std::string& place : places) at.push_back(guest_door_->listen(place));
  channel_.send({{"op", "serve"}, {"addresses", at}});
}

void GatewayDesk::part(const ControlMessage& message) {
  if (set_) set_->part(read_part(message.body));
}

void GatewayDesk::take_failed(const ControlMessage& message) { forget(read_failed(message.body)); }

void GatewayDesk::take_lost(const ControlMessage& message) {
  for (const core::NodeId gateway : read_lost(message.body)) quorum_.lose(gateway);
}

void GatewayDesk::forget(const FailedRequest& request) {
  log::warn("{}", request.message);
  quorum_.fail(request.cluster);
  if (set_) set_->failed(request);
}

std::optional<std::size_t> GatewayDesk::own_cluster() const {
  const auto& clusters = world_.clusters;
  const auto found = std::ranges::find(clusters, cluster_, &core::Cluster::name);
  if (found == clusters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - clusters.begin());
}

// It may come before `configure`. The launcher tells it again to gateways that come later.
void GatewayDesk::tell_spare(const ControlMessage& message) {
  const net::control::Spare news = read_spare(message.body);
  spares_[news.cluster] = !news.left;
  if (set_) set_->spare(news);
}

void GatewayDesk::answer(const ControlMessage& message) {
  const AnswerRequest request = read_answer(message.body);
  reports_.answered(request.rank, request.number);
  if (set_) set_->answer(request.rank, request.number, request.reply);
}

void GatewayDesk::where(const ControlMessage& message) {
  const bool traces = message.body.value("traces", true);
  if (traces) core::trace::dump("asked", false);
  if (set_) set_->ask_where(traces);
}

// ---- metrics ----------------------------------------------------------------------------------

std::string GatewayDesk::serve_metrics(const std::string& at) {
  metrics_ = std::make_unique<MetricsServer>(
      context_, at, [this] { return metrics(); },
      [](const std::string& sentence) { log::warn("the agent {}", sentence); });
  keep_counts();
  return metrics_->address();
}

std::string GatewayDesk::metrics() const {
  return metrics_text(job_, world_,
                      {.links = set_->counts(),
                       .joined = set_->joined_ranks(),
                       .spares = spares_,
                       .direct = set_->direct_stats(),
                       .crossings = set_->crossing_stats(),
                       .doors = doors()});
}

DoorCounts GatewayDesk::doors() const {
  DoorCounts doors;
  for (const auto& [node, count] : set_->turned_away()) {
    doors["gateway " + world_.label_of(node)] = count.ranks_and_gateways;
    doors["junctions of gateway " + world_.label_of(node)] = count.guests;
  }
  if (guest_door_) doors["guests"] = guest_door_->turned_away();
  if (metrics_) doors["metrics"] = metrics_->turned_away();
  return doors;
}

void GatewayDesk::keep_counts() {
  set_->ask_crossed();
  count_timer_.expires_after(kCountInterval);
  count_timer_.async_wait([this](const std::error_code& error) {
    if (!error) keep_counts();
  });
}

}  // namespace isthmus::daemon
