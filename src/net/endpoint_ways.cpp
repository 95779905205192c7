// The ways of a process's frames: which conduit takes one, and what happens when a way is lost
// (docs/protocol.md, "When a way is lost").
#include <asio/post.hpp>
#include <utility>

#include "net/endpoint_io.hpp"

namespace isthmus::net {

// The direct conduit where there is one; else that of a gateway.
ConduitDriver* Endpoint::Io::way_to(core::NodeId peer, bool bulk) {
  if (ConduitDriver* const driver = direct->to(peer)) {
    return driver->conduit().can_accept(bulk) ? driver : nullptr;
  }
  const std::size_t cluster =
      gates.size() > 1 ? config.world.cluster_of(static_cast<int>(peer)) : 0;
  const std::size_t gate = ways.to(cluster, peer, bulk);
  return gate == core::Ways::kNone ? nullptr : gates[gate].driver.get();
}

void Endpoint::Io::lose(std::size_t index, std::size_t cluster, const std::string& why) {
  if (!ways.lose(index, cluster)) tell_fault(why);
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
  if (!open || !ways.lose_gate(index)) return tell_fault(sentence);
  asio::post(io, [this] { progress(); });
}

// What a conduit that is gone may not have delivered.
void Endpoint::Io::send_elsewhere(const core::Conduit& conduit) {
  ways.keep_all(conduit);
  asio::post(io, [this] { progress(); });
}

void Endpoint::Io::fall_silent(std::size_t index, std::size_t cluster, bool ask) {
  if (cluster >= config.world.clusters.size()) return;
  if (!ways.fall_silent(index, cluster) || !ask) return;
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
  ways.keep_returned(index, config.world.cluster_of(static_cast<int>(frame.destination)), frame);
}

}  // namespace isthmus::net
