#include "daemon/gateway/gateway.hpp"

#include "daemon/gateway/state.hpp"

namespace isthmus::daemon {

Gateway::Gateway(asio::io_context& io, GatewayConfig config, GatewayUser& user)
    : state_(std::make_shared<State>(io, std::move(config), user)) {}

Gateway::~Gateway() { state_->drop(); }

std::vector<std::string> Gateway::listen(const std::vector<std::string>& addresses) {
  State& state = *state_;
  const GatewayConfig& config = state.config;
  if (!state.entrance) {
    state.entrance.emplace(
        state, config.node, net::Credentials{config.job, config.secret},
        config.accept_plain || config.accept_plain_ranks,
        [&state](net::Listener::Newcomer newcomer) { state.welcome(std::move(newcomer)); });
  }
  std::vector<std::string> actual;
  actual.reserve(addresses.size());
  for (const auto& address : addresses) actual.push_back(state.entrance->listen(address));
  return actual;
}

void Gateway::await_calls(const std::string& at) {
  const net::Service* const service = state_->service_at(at);
  if (service == nullptr || !state_->entrance) {
    throw net::ListenError("has no key for the service " + at, "");
  }
  state_->entrance->await_calls(*service, "no calls are awaited");
}

void Gateway::link(core::World world, std::vector<GatewayLink> links, core::Routes next,
                   std::function<void(const std::string& error)> done) {
  if (state_->config.anew) state_->links.expect(next);
  state_->router.learn_world(std::move(world), std::move(next));
  if (state_->config.late) state_->router.open();
  state_->welcome_early();
  state_->links.open(std::move(links), std::move(done));
  state_->tuning.plan();
  state_->control.check_ready();
}

void Gateway::extend(Extension extension, std::function<void(const std::string& error)> done) {
  for (const auto& [node, name] : extension.gateways) state_->router.extend(node, name);
  for (const core::NodeId node : extension.gone) state_->links.abandon(node);
  state_->links.open(std::move(extension.links), std::move(done));
  state_->act();
}

void Gateway::grow(const core::Growth& growth, std::vector<core::NodeId> next) {
  if (!state_->router.grow(growth, std::move(next))) return;
  state_->processes.grow(growth);
  state_->control.check_ready();
  state_->act();
}

std::vector<std::string> Gateway::join(JunctionPlan plan,
                                       std::function<void(const std::string&)> done) {
  return state_->junctions.join(std::move(plan), std::move(done));
}

void Gateway::part(const std::string& run, const std::string& sentence) {
  state_->junctions.part(run);
  state_->control.part({run, sentence});
}

void Gateway::read_come() {
  if (state_->over()) return;
  state_->peers.read_come();
  state_->act();
}

// The news comes by another way than what the cluster has sent, and may overtake it.
void Gateway::failed(std::size_t cluster, const std::string& message) {
  read_come();
  if (state_->over() || !state_->router.forget(cluster)) return;
  state_->readiness.forget(cluster);
  state_->processes.forget(cluster, message);
  state_->links.forget();
  state_->control.check_ready();
  state_->act();
}

void Gateway::spare(const net::control::Spare& news) {
  if (state_->over()) return;
  state_->processes.tell(news);
  state_->act();
}

void Gateway::go_on_alone() {
  state_->control.go_on_alone();
  state_->act();
}

void Gateway::agree(core::NodeId gateway) {
  if (!state_->over()) state_->control.agree(gateway);
}

void Gateway::have_ended(std::size_t cluster) {
  state_->processes.have_ended(cluster);
  state_->act();
}

void Gateway::fault(const std::string& message, int code) {
  if (!state_->over()) state_->fail(net::control::Fault{code, message}, message, core::kNobody);
}

void Gateway::ask_where(bool traces) {
  state_->peers.tell_processes(net::control::Where{traces});
  state_->act();
}

bool Gateway::answer(core::NodeId process, std::uint64_t number, const std::string& reply) {
  return state_->processes.answer(process, number, reply);
}

void Gateway::close(std::function<void()> done) { state_->close(std::move(done)); }

bool Gateway::joined() const { return state_->processes.all_joined(0); }

bool Gateway::ready() const { return state_->router.opened(); }

bool Gateway::finished() const { return joined() && !state_->presence.any_inside(); }

std::vector<Attendance> Gateway::attendance() const {
  const auto& world = state_->router.world();
  if (!world) return {};
  return state_->presence.attendance(*world, state_->router.clusters());
}

TurnedAway Gateway::turned_away() const {
  TurnedAway count;
  if (state_->entrance) count.ranks_and_gateways = state_->entrance->turned_away();
  count.guests = state_->junctions.turned_away();
  return count;
}

Gateway::Crossed Gateway::crossed() const { return state_->processes.crossed(false); }
Gateway::Crossed Gateway::crossed_of_left() const { return state_->processes.crossed(true); }
void Gateway::ask_crossed() { state_->processes.ask_crossed(); }

std::vector<LinkCount> Gateway::counts() const { return state_->tuning.counts(); }
std::map<std::size_t, NearCount> Gateway::near() const { return state_->processes.near(); }
const core::Router::Crossings& Gateway::crossings() const { return state_->router.crossings(); }
std::uint64_t Gateway::redirected() const { return state_->router.redirected(); }

}  // namespace isthmus::daemon
