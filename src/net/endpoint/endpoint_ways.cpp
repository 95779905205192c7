// The ways of a process's frames: which conduit takes one, and what happens when a way is lost
// (docs/protocol.md, "When a way is lost").
#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "net/control/share_body.hpp"
#include "net/endpoint/endpoint_io.hpp"

namespace isthmus::net {

// The direct conduit if it exists; else that of a gateway.
ConduitDriver* Endpoint::Io::way_to(core::NodeId peer, bool bulk, core::LinkChoice link) {
  const bool chosen = link != core::kAnyLink;
  const std::size_t cluster = gates.size() > 1 || chosen || config.survives
                                  ? config.world.cluster_of(static_cast<int>(peer))
                                  : 0;
  if (!chosen || may_go_directly(cluster, link)) {
    if (ConduitDriver* const driver = direct->to(peer)) {
      return driver->conduit().can_accept(bulk) ? driver : nullptr;
    }
  }
  const std::size_t gate = ways.to(cluster, peer, bulk, link);
  return gate == core::Ways::kNone ? nullptr : gates[gate].driver.get();
}

void Endpoint::Io::flush() {
  for (auto& gate : gates) {
    if (gate.driver) gate.driver->flush();
  }
  direct->flush();
}

bool Endpoint::Io::flushed() const {
  return direct->flushed() && std::all_of(gates.begin(), gates.end(), [](const Gate& gate) {
           return !gate.driver || gate.driver->closed() || gate.driver->conduit().flushed();
         });
}

void Endpoint::Io::send_again() {
  const auto by = [this](core::NodeId to, bool bulk) {
    ConduitDriver* const way = way_to(to, bulk);
    return way == nullptr ? nullptr : &way->conduit();
  };
  if (!ways.waits() || !ways.send_again(static_cast<core::NodeId>(config.node), by)) return;
  sent_again = ways.sent_again();
  flush();
}

void Endpoint::Io::name_links(std::size_t mine) {
  for (const core::NamedLink& link : config.world.named) {
    if (link.a != mine && link.b != mine) continue;
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < gates.size(); ++i) {
      const auto& all = link.gateways;
      if (std::find(all.begin(), all.end(), gates[i].gateway.node) != all.end()) own.push_back(i);
    }
    ways.set_link(config.world.choice_of(link.name), link.a + link.b - mine, own);
  }
}

// Messages go as usual to a cluster that a chosen link does not reach.
bool Endpoint::Io::may_go_directly(std::size_t cluster, core::LinkChoice link) const {
  if (link == core::kByGateways) return false;
  const core::World& all = config.world;
  const std::size_t mine = all.cluster_of(config.node);
  const auto found = std::find_if(all.named.begin(), all.named.end(), [&](const auto& each) {
    return std::minmax(each.a, each.b) == std::minmax(mine, cluster) &&
           all.choice_of(each.name) == link;
  });
  return found == all.named.end() || found->direct;
}

void Endpoint::Io::lose(const Gate& gate, const control::Lost& lost) {
  if (lost.cluster >= config.world.clusters.size()) return;
  const auto process = static_cast<core::NodeId>(lost.rank);
  const bool reached = lost.rank < 0 ? ways.lose(gate.index, lost.cluster)
                                     : ways.lose_process(gate.index, lost.cluster, process);
  // In a run that goes on, frames wait until the launcher has decided.
  if (!reached && !config.survives) tell_fault(lost.message);
}

void Endpoint::Io::lose_gate(Gate& gate, const std::string& why) {
  if (std::exchange(gate.gone, true)) return;
  const std::string sentence = rank_name() + " has lost " + gate.name() + ": " + why;
  gate.driver->close();
  if (said_bye) {  // what is left are credits
    asio::post(io, [this] { progress(); });
    return;
  }
  const bool reached = open && ways.lose_gate(gate.index);
  const bool goes_on = config.survives && open && first_open_gate() != nullptr;
  if (!reached && !goes_on) return tell_fault(sentence);
  gate.tell_given_up();
  pass_on_without(gate, {.rank = config.node, .gateway = gate.gateway.node});
  asio::post(io, [this] {
    // The answers may have been lost with the gateway.
    for (const control::Ask& question : questions.unanswered()) ask(question);
    progress();
  });
}

void Endpoint::Io::pass_on_without(const Gate& from, const control::Without& body) {
  if (body.rank < 0 || body.rank >= config.world.size() ||
      config.world.gateway(body.gateway) == nullptr ||
      !passed_on.emplace(body.rank, body.gateway).second) {
    return;
  }
  const auto bytes = encode_control(body);
  for (Gate& gate : gates) {
    if (&gate != &from && gate.is_open()) gate.say(bytes);
  }
}

// Frames that a lost conduit may not have delivered.
void Endpoint::Io::send_elsewhere(const core::Conduit& conduit) {
  ways.keep_all(conduit);
  asio::post(io, [this] { progress(); });
}

void Endpoint::Io::fall_silent(Gate& gate, std::size_t cluster, bool ask) {
  if (cluster >= config.world.clusters.size()) return;
  if (!ways.fall_silent(gate.index, cluster) || !ask) return;
  gate.say(encode_control(control::Other{cluster}));
}

// All processes tell the same gateway while it lives, the first: its word is for all of them.
void Endpoint::Io::tell_share(std::size_t cluster, double part) {
  Gate* const gate = first_open_gate();
  if (gate == nullptr || said_bye) return;
  gate->submit(encode_share({cluster, part}));
  // On its own: a conduit is being written, and whatever a failing write leads to may close it.
  asio::post(io, [driver = gate->driver] { driver->flush(); });
}

void Endpoint::Io::take_back(const Gate& gate, const core::InFrame& frame) {
  if (frame.source != static_cast<core::NodeId>(config.node) ||
      frame.destination >= static_cast<core::NodeId>(config.world.size())) {
    tell_fault(gate.name() + " returned what " + rank_name() + " has not sent");
    return;
  }
  ways.keep_returned(gate.index, frame);
}

}  // namespace isthmus::net
