#include "net/endpoint/endpoint_io.hpp"

#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <stdexcept>
#include <utility>

#include "core/base/debug_off.hpp"
#include "core/trace/trace.hpp"
#include "core/world/limits.hpp"
#include "net/control/share_body.hpp"
#include "net/door/host_addresses.hpp"
#include "net/host/descriptors.hpp"
#include "net/host/short_slice.hpp"
#include "net/host/start_thread.hpp"

namespace isthmus::net {
namespace {

// Below this, two copies by a ring take less than the system's call and its second round. Exchanges
// took at the least, lent and by rings: 16 KiB 5.2 and 2.4 us, 32 KiB 6.1 and 5.2 (medians 6.6 and
// 8.7). The median for 128 KiB was 25 and 129 (two ranks, two cores, November 2026).
constexpr std::size_t kLendFrom = std::size_t{32} << 10;

// Descriptors of the program and its native library, and of the streams that direct conduits may
// hold ready.
constexpr int kDescriptors = 512;

}  // namespace

Endpoint::Io::Io(Endpoint& owner, EndpointConfig settings, FaultHandler handler)
    : endpoint(owner),
      config(std::move(settings)),
      on_fault(std::move(handler)),
      pump(owner, *this, config.world) {
  world = std::make_shared<const core::World>(config.world);
  if (config.node < 0 || config.node >= config.world.size()) {
    throw std::runtime_error("process " + std::to_string(config.node) +
                             " is not of this grid, which has " +
                             std::to_string(config.world.size()) + " ranks");
  }
  const std::size_t mine = config.world.cluster_of(config.node);
  for (const auto& gateway : config.world.gateways) {
    if (!gateway.serves(mine)) continue;
    gates.emplace_back(*this, gates.size(), gateway);
  }
  if (gates.empty()) {
    throw std::runtime_error("cluster \"" + config.world.clusters[mine].name +
                             "\" has no gateway; give it one in the grid file");
  }
  ways = core::Ways(gates.size(), config.world.clusters.size());
  for (std::size_t i = 0; i < gates.size(); ++i) ways.set_hops(i, gates[i].gateway.hops);
  name_links(mine);
  for (const core::Cluster& cluster : config.world.clusters) bound(cluster);
}

bool Endpoint::Io::frame(core::NodeId from, const core::InFrame& frame) {
  if (frame.source == from && core::is_routed(frame.kind)) return deliver(frame);
  tell_fault(config.world.rank_name(from) + " sent in the name of " +
             config.world.rank_name(frame.source));
  return true;
}

void Endpoint::Io::invite(core::NodeId to, const std::vector<std::byte>& body) {
  core::OutFrame frame;
  frame.kind = core::FrameKind::Invite;
  frame.source = static_cast<core::NodeId>(config.node);
  frame.destination = to;
  frame.payload = body;
  const std::size_t cluster = config.world.cluster_of(static_cast<int>(to));
  const std::size_t gate = ways.reaching(cluster, to);
  if (gate == core::Ways::kNone) return;
  const auto& driver = gates[gate].driver;
  driver->conduit().submit(frame);
  // On its own: the engine is locked here, and whatever a failing write leads to may want it.
  asio::post(io, [driver] { driver->flush(); });
}

void Endpoint::Io::reads(core::NodeId from, const core::PeerMemory& memory) {
  const std::lock_guard lock(endpoint.mutex_);
  endpoint.engine_.read_from(from, [memory](std::uint64_t address, std::span<std::byte> to) {
    return memory.read(static_cast<std::int64_t>(address), to);
  });
}

void Endpoint::Io::lends(core::NodeId to) {
  const std::lock_guard lock(endpoint.mutex_);
  endpoint.engine_.lend_to(to, config.lend_from.value_or(kLendFrom));
}

// `posted` is cleared first: bytes that come from then on are posted anew.
void Endpoint::Io::extend(GrowingSend& send) {
  send.posted.exchange(false);
  {
    const std::lock_guard lock(endpoint.mutex_);
    if (send.op == nullptr) return;
    endpoint.engine_.extend(*send.op, send.ready.load(std::memory_order_acquire));
    endpoint.publish();
  }
  pump.run();
}

void Endpoint::Io::make_direct() {
  direct = std::make_shared<Direct>(io, config.world, static_cast<core::NodeId>(config.node),
                                    Credentials{config.job, config.secret}, *this);
  // A receive that is given up must not be read into any more.
  if (config.lend_from != kLendNothing && !config.survives && !core::off(core::Mechanism::Lending))
    direct->lend();
  if (direct->any()) direct->listen(config.ports);
}

void Endpoint::Io::start() {
  pid = ::getpid();
  make_direct();
  if (direct->any()) reserve_descriptors(kDescriptors);
  for (Gate& gate : gates) gate.connect();
  thread = start_thread("isthmus", [this] {
    shorten_slice(Children::Same);
    turn.run();
  });
}

void Endpoint::Io::stop() {
  if (!thread.joinable()) return;
  turn.stop();
  thread.join();
  direct->close();
  for (auto& gate : gates) {
    if (gate.driver) gate.driver->close();
  }
}

void Endpoint::Io::drive(std::uint32_t seen, std::chrono::microseconds limit) {
  const auto quiet = [&] { return endpoint.events_.load(std::memory_order_acquire) == seen; };
  turn.look();
  if (!quiet() || limit.count() <= 0) return;
  const unsigned before = naps;
  nap.expires_after(limit);
  nap.async_wait([this](const std::error_code& error) {
    if (!error) ++naps;
  });
  while (quiet() && naps == before) turn.run_one();
  nap.cancel();
}

Endpoint::Gate* Endpoint::Io::first_open_gate() {
  const auto found = std::ranges::find_if(gates, &Gate::is_open);
  return found == gates.end() ? nullptr : &*found;
}

// ---- what gateways say ------------------------------------------------------------------------

bool Endpoint::Io::take(Gate& gate, const core::InFrame& frame) {
  if (core::is_routed(frame.kind)) {
    if ((frame.flags & core::kReturned) == 0) return deliver(frame);
    take_back(gate, frame);
  } else if (frame.kind == core::FrameKind::Ready) {
    gate.ready = true;
    if (std::ranges::all_of(gates, &Gate::ready)) {
      open = true;
      std::lock_guard lock(mutex);
      if (phase == Phase::Joining) phase = Phase::Joined;
      changed.notify_all();
    }
  } else {
    take_control(gate, frame);
  }
  return true;
}

void Endpoint::Io::take_control(Gate& gate, const core::InFrame& frame) {
  // The most frequent first: each is a text to be read.
  if (const auto share = decode_share(frame.body)) {
    return direct->take_share(share->cluster, share->part);
  }
  const auto body = decode_control(frame.body);
  if (!body) return;
  std::visit([&](const auto& news) { learn(gate, news); }, *body);
}

void Endpoint::Io::learn(Gate& /*gate*/, const control::Parted& parted) {
  if (!config.needs) return;
  if (config.needs(parted.run)) return tell_fault(parted.message);
  wake();
}

void Endpoint::Io::learn(Gate& /*gate*/, const control::Abort& abort) {
  fault("rank " + std::to_string(abort.rank) + " called MPI_Abort with code " +
            std::to_string(abort.code) + (abort.message.empty() ? "" : ": " + abort.message),
        abort.code);
}

// One gateway after another says so, and maybe before a growth that it has heard of.
void Endpoint::Io::learn(Gate& /*gate*/, const control::Failed& news) {
  const bool is_new = failed.emplace(news.cluster, news.message).second;
  if (!is_new || news.cluster >= config.world.clusters.size()) return;
  // The news may overtake what the cluster has sent before. That counts as far as it has come.
  asio::post(io, [this, news] {
    for (const Gate& gate : gates) gate.driver->read_come();
    direct->read_from(news.cluster);
    forget(news.cluster, news.message);
  });
}

// One gateway after another says so, in any order.
void Endpoint::Io::learn(Gate& /*gate*/, const control::Spare& news) {
  if (news.number >= spares) early_spares.emplace(news.number, news);
  while (!early_spares.empty() && early_spares.begin()->first == spares) {
    const control::Spare next = early_spares.begin()->second;
    early_spares.erase(early_spares.begin());
    ++spares;
    const auto change = next.left ? ClusterChange::Left : ClusterChange::Joined;
    if (config.changed) config.changed(change, next.cluster, next.message);
  }
}

void Endpoint::Io::forget(std::size_t index, const std::string& why) {
  if (index == config.world.cluster_of(config.node)) {
    return fault("the run goes on without this cluster: " + why, 1);
  }
  const core::Cluster& cluster = config.world.clusters[index];
  const auto first = static_cast<core::NodeId>(cluster.first);
  const auto count = static_cast<core::NodeId>(cluster.size);
  if (config.failed) config.failed(index, why);
  if (config.changed) config.changed(ClusterChange::Failed, cluster.name, why);
  direct->forget(index);
  ways.forget(first, count);
  {
    const std::lock_guard lock(endpoint.mutex_);
    endpoint.engine_.fail(first, count);
    ++endpoint.answers_;
    endpoint.publish();
  }
  // On its own: a conduit is being read.
  asio::post(io, [this] { progress(); });
}

bool Endpoint::Io::deliver(const core::InFrame& frame) {
  bool good = frame.destination == static_cast<core::NodeId>(config.node);
  if (good && frame.kind == core::FrameKind::Invite) {
    const auto invite = decode_invite(frame.body);
    good = invite.has_value();
    if (good) direct->take_invite(frame.source, *invite);
  } else if (good) {
    std::lock_guard lock(endpoint.mutex_);
    good = endpoint.engine_.deliver(frame);
    endpoint.publish();
  }
  if (!good) tell_broken(frame.source);
  return true;
}

void Endpoint::Io::tell_broken(core::NodeId source) {
  tell_fault(rank_name() + " received a message from " + config.world.rank_name(source) +
             " that breaks the protocol");
}

// The memory stays the message's while this thread has its turn: only arrivals complete it.
core::Landing Endpoint::Io::place(const core::InFrame& beginning, const Gate* by) {
  // A receive can be given up while the rest is read.
  if ((beginning.flags & core::kReturned) != 0 || config.survives) return {};
  core::Landing landing;
  {
    const std::lock_guard lock(endpoint.mutex_);
    landing = endpoint.engine_.place(beginning);
  }
  // The engine does not know of pieces that other conduits have read in part.
  const bool elsewhere = (by != nullptr && direct->lands(beginning.source)) ||
                         std::ranges::any_of(gates, [by](const Gate& gate) {
                           return &gate != by && gate.driver && gate.driver->lands();
                         });
  if (elsewhere) landing.behind = {};
  return landing;
}

// After every read: there may be room for frames, and something may have been flushed.
void Endpoint::Io::progress() {
  if (open) pump.run();
  if (!ends.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex);
  if (saying && flushed()) {
    said = true;
    changed.notify_all();
  }
  if (phase != Phase::Leaving) return;
  {
    std::lock_guard hold(endpoint.mutex_);
    const core::Engine& engine = endpoint.engine_;
    if (engine.has_output() || engine.has_readings() || ways.waits()) return;
  }
  // If a gateway is lost, its frames go by another one. If a direct conduit is lost, its frames go
  // by the gateways. After Bye they take no frames.
  const bool safe = config.world.has_spare_gateways() ? flushed() : direct->arrived();
  if (!said_bye && !safe) {
    lock.unlock();
    return flush();
  }
  if (!said_bye) tell_crossed();
  said_bye = true;
  for (auto& gate : gates) gate.driver->conduit().bye();
  direct->bye();
  if (flushed()) {
    phase = Phase::Left;
    direct->close();
    for (auto& gate : gates) gate.driver->close();
    changed.notify_all();
    return;
  }
  lock.unlock();
  flush();
}

void Endpoint::Io::say(const ControlBody& body) {
  const auto bytes = encode_control(body);
  for (auto& gate : gates) {
    if (gate.is_open()) gate.say(bytes);
  }
}

// Others may send here by the way of any gateway. So no gateway hears that this process has joined
// before all know it.
void Endpoint::Io::connected() {
  if (!std::ranges::all_of(gates, &Gate::is_connected)) return;
  say(control::Joined{static_cast<core::NodeId>(config.node), 0, host_name()});
}

void Endpoint::Io::bound(const core::Cluster& cluster) {
  if (!cluster.is_guest()) return;
  const std::lock_guard lock(endpoint.mutex_);
  endpoint.engine_.set_window(static_cast<core::NodeId>(cluster.first),
                              static_cast<core::NodeId>(cluster.size), core::kGuestWindow);
}

void Endpoint::Io::grow_ways(const core::Growth& growth) {
  if (growth.gateways.empty()) return ways.grow_like(growth.like);
  std::vector<int> hops;
  for (const Gate& gate : gates) {
    const auto found = growth.hops.find(gate.gateway.node);
    hops.push_back(found == growth.hops.end() ? 0 : found->second);
  }
  ways.grow(hops);
}

void Endpoint::Io::grow(const std::string& text) {
  try {
    const core::Growth news = core::growth_from_json(text);
    early.emplace(news.index, news);
    while (!early.empty()) {
      const core::Growth next = early.begin()->second;
      if (next.index > config.world.clusters.size()) return;
      early.erase(early.begin());
      if (!config.world.grow(next)) continue;
      grow_ways(next);
      bound(config.world.clusters.back());
      const std::size_t index = config.world.clusters.size() - 1;
      if (const auto found = failed.find(index); found != failed.end()) {
        forget(index, found->second);
      }
    }
  } catch (const std::invalid_argument& wrong) {
    return tell_fault(rank_name() + ": " + wrong.what());
  }
  auto grown = std::make_shared<const core::World>(config.world);
  {
    const std::lock_guard lock(mutex);
    world = std::move(grown);
  }
  wake();
}

// Waiters look at what does not come as a message.
void Endpoint::Io::wake() {
  const std::lock_guard lock(endpoint.mutex_);
  ++endpoint.answers_;
  endpoint.publish();
}

// Any gateway may pass the question on. The launcher answers by the same one.
void Endpoint::Io::ask(const control::Ask& question) {
  if (Gate* const gate = first_open_gate()) gate->say(encode_control(question));
}

// If a run hangs, its traces are of interest, too.
void Endpoint::Io::tell_where(Gate& gate, bool traces) {
  if (traces) core::trace::dump("asked");
  if (!config.whereabouts) return;
  constexpr std::size_t kMostAwaited = 16;
  std::vector<core::Awaited> awaited;
  {
    const std::lock_guard lock(endpoint.mutex_);
    awaited = endpoint.engine_.awaited(kMostAwaited);
  }
  gate.say(encode_control(control::Here{config.whereabouts({awaited, direct->counts()})}));
}

// To one gateway: the sum of what all gateways count is the cluster's.
void Endpoint::Io::tell_crossed() {
  Gate* const gate = first_open_gate();
  if (gate == nullptr) return;
  for (const auto& [cluster, count] : direct->counts()) {
    const DirectCount news = count - std::exchange(told_crossed[cluster], count);
    if (news != DirectCount{}) gate->say(encode_control(control::Crossed{cluster, news}));
  }
}

void Endpoint::Io::answer_count(Gate& gate) {
  if (said_bye) return;
  tell_crossed();
  gate.say(encode_control(control::Count{}));
}

// Reports something that this process is the first to know. The remaining gateways tell the others.
void Endpoint::Io::tell_fault(const std::string& sentence) {
  {
    std::lock_guard lock(mutex);
    if (phase == Phase::Failed || phase == Phase::Left) return;
  }
  say(control::Fault{1, sentence});
  fault(sentence, 1);
}

void Endpoint::Io::fault(const std::string& sentence, int code) {
  FaultHandler handler;
  {
    std::lock_guard lock(mutex);
    if (phase == Phase::Failed || phase == Phase::Left) return;
    if (phase == Phase::Joined) handler = std::move(on_fault);  // else join() or leave() throws
    phase = Phase::Failed;
    failure = sentence;
    changed.notify_all();
  }
  if (handler) handler(sentence, code);
}

}  // namespace isthmus::net
