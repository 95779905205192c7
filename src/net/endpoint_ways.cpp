// The ways of a process's frames: which conduit takes one, and what happens when a way is lost
// (docs/protocol.md, "When a way is lost").
#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "net/endpoint_io.hpp"

namespace isthmus::net {

// The direct conduit where there is one; else the gateway with the least to pass on, of those that
// take such a frame.
ConduitDriver* Endpoint::Io::way_to(core::NodeId peer, bool bulk) {
  if (ConduitDriver* const driver = direct->to(peer)) {
    return driver->conduit().can_accept(bulk) ? driver : nullptr;
  }
  ConduitDriver* best = nullptr;
  const std::size_t cluster =
      gates.size() > 1 ? config.world.cluster_of(static_cast<int>(peer)) : 0;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const Gate& gate = gates[(peer + i) % gates.size()];
    ConduitDriver* const driver = gate.driver.get();
    if (!gate.lost.empty() && gate.lost.contains(cluster)) continue;
    if (!driver->conduit().can_accept(bulk)) continue;
    if (best == nullptr || driver->conduit().backlog() < best->conduit().backlog()) best = driver;
  }
  return best;
}

void Endpoint::Io::lose(std::size_t index, std::size_t cluster, const std::string& why) {
  if (!gates[index].lost.insert(cluster).second) return;
  const bool none = std::all_of(gates.begin(), gates.end(), [cluster](const Gate& gate) {
    return gate.lost.contains(cluster);
  });
  if (none) tell_fault(why);
}

void Endpoint::Io::lose_gate(std::size_t index, const std::string& why) {
  Gate& gate = gates[index];
  if (std::exchange(gate.gone, true)) return;
  const std::string sentence =
      "rank " + std::to_string(config.world_rank) + " has lost " + name(gate) + ": " + why;
  gate.driver->close();
  if (said_bye) {  // what is left are credits
    asio::post(io, [this] { progress(); });
    return;
  }
  const bool others = std::any_of(gates.begin(), gates.end(),
                                  [](const Gate& other) { return other.driver && !other.gone; });
  if (!open || !others) return tell_fault(sentence);
  for (std::size_t cluster = 0; cluster < config.world.clusters.size(); ++cluster) {
    lose(index, cluster, sentence);
  }
  send_elsewhere(gate.driver->conduit());
}

// What a conduit that is gone may not have delivered.
void Endpoint::Io::send_elsewhere(const core::Conduit& conduit) {
  conduit.salvage([this](const core::InFrame& frame) {
    returned.push_back({frame.kind, frame.destination, {frame.body.begin(), frame.body.end()}});
  });
  asio::post(io, [this] { progress(); });
}

void Endpoint::Io::fall_silent(std::size_t index, std::size_t cluster, bool ask) {
  if (cluster >= config.world.clusters.size()) return;
  gates[index].silent.insert(cluster);
  const bool reached = std::any_of(gates.begin(), gates.end(), [cluster](const Gate& gate) {
    return !gate.lost.contains(cluster) && !gate.silent.contains(cluster);
  });
  if (!ask || !reached) return;
  ControlBody body;
  body.what = ControlBody::What::Other;
  body.cluster = cluster;
  say_to(gates[index], encode_control(body));
}

void Endpoint::Io::take_back(std::size_t index, const core::InFrame& frame) {
  if (frame.source != static_cast<core::NodeId>(config.world_rank) ||
      frame.destination >= static_cast<core::NodeId>(config.world.size())) {
    tell_fault(name(gates[index]) + " returned what rank " + std::to_string(config.world_rank) +
               " has not sent");
    return;
  }
  const std::size_t cluster = config.world.cluster_of(static_cast<int>(frame.destination));
  lose(index, cluster,
       name(gates[index]) + " has lost its way to cluster \"" +
           config.world.clusters[cluster].name + "\"");
  returned.push_back({frame.kind, frame.destination, {frame.body.begin(), frame.body.end()}});
}

// Before anything new. True: something went.
bool Endpoint::Io::send_returned() {
  bool moved = false;
  while (!returned.empty()) {
    const Returned& again = returned.front();
    ConduitDriver* const way = way_to(again.destination, again.body.size() > core::kExpressBody);
    if (way == nullptr) break;
    core::OutFrame frame;
    frame.kind = again.kind;
    frame.source = static_cast<core::NodeId>(config.world_rank);
    frame.destination = again.destination;
    frame.payload = again.body;
    frame.flags = core::kRepeated;
    way->conduit().submit(frame);
    returned.pop_front();
    ++sent_again;
    moved = true;
  }
  return moved;
}

}  // namespace isthmus::net
