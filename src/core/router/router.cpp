// Passes frames through a gateway while all ways work.
#include "core/router/router.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/trace/trace.hpp"
#include "core/wire/batch.hpp"

namespace isthmus::core {

Router::Router(RouterConfig config) : config_(config) {}

Router::Neighbour& Router::add(NodeId node, Conduit& conduit) {
  auto& neighbour = neighbours_[node];
  neighbour = std::make_unique<Neighbour>();
  neighbour->node = node;
  neighbour->conduit = &conduit;
  if (keeps_custody(node)) conduit.keep_custody();
  return *neighbour;
}

Router::Neighbour& Router::add_junction(NodeId node, Conduit& conduit, const std::string& run) {
  Neighbour& added = add(node, conduit);
  added.run = run;
  return added;
}

std::vector<NodeId> Router::junctions_to(const std::string& run) const {
  std::vector<NodeId> found;
  for (const auto& [node, neighbour] : neighbours_) {
    if (neighbour->run == run) found.push_back(node);
  }
  return found;
}

void Router::part(const std::string& run) {
  parted_.insert(run);
  drops_ = true;
  for (const NodeId node : junctions_to(run)) left(*find(node));
}

bool Router::parted(NodeId process) const {
  if (parted_.empty() || !world_ || process >= static_cast<NodeId>(world_->size())) return false;
  return parted_.contains(world_->clusters[world_->cluster_of_node(process)].run);
}

// Its receiver or its sender is not there any more.
bool Router::dropped(const InFrame& frame) const {
  return drops_ &&
         (parted(frame.destination) || forgotten(frame.destination) || forgotten(frame.source));
}

// A guest is known here by another number; it speaks with processes of this run alone, and of
// itself. False: it does not.
bool Router::admit(const Neighbour& junction, InFrame& frame) const {
  if (!world_ || (frame.flags & kReturned) != 0) return false;
  const std::optional<NodeId> source = world_->guest(junction.run, frame.source);
  if (!source || frame.destination >= static_cast<NodeId>(world_->size())) return false;
  frame.source = *source;
  return !world_->clusters[world_->cluster_of_node(frame.destination)].is_guest();
}

void Router::learn_world(World world, Routes next) {
  const Gateway* const self = world.gateway(config_.self);
  if (self != nullptr) clusters_ = self->clusters;
  world_ = std::move(world);
  for (auto& [cluster, nodes] : next) routes_.add(cluster, std::move(nodes));
  for (const auto& [node, neighbour] : neighbours_) {
    if (keeps_custody(node)) neighbour->conduit->keep_custody();
  }
}

// Frames from a neighbour are acknowledged only when the next node has them. If a cluster may fail
// that passes frames on for others, other gateways keep those; a process fails with its own
// gateway.
bool Router::keeps_custody(NodeId node) const {
  if (!world_) return false;
  return world_->has_spare_gateways() ||
         (config_.survives && is_gateway(node) && world_->has_long_ways());
}

void Router::extend(NodeId node, const std::string& name) {
  if (!world_) throw std::logic_error("a world that is not known cannot be extended");
  world_->add_gateway(node, name);
}

bool Router::grow(const Growth& growth, std::vector<NodeId> next) {
  if (!world_) throw std::logic_error("a world that is not known cannot grow");
  if (!world_->grow(growth)) return false;
  if (!growth.gateways.empty()) {
    const Gateway* const self = world_->gateway(config_.self);
    if (self != nullptr && self->serves(growth.index)) {
      clusters_.push_back(growth.index);
    } else {
      routes_.add(growth.index, std::move(next));
    }
    return true;
  }
  if (serves(growth.like) && growth.cluster.is_guest()) {
    routes_.add(growth.index, junctions_to(growth.cluster.run));
  } else if (serves(growth.like)) {
    clusters_.push_back(growth.index);
  } else {
    routes_.add_like(growth.index, growth.like);
  }
  if (const auto lost = unreachable_.find(growth.like); lost != unreachable_.end()) {
    unreachable_[growth.index] = lost->second;
  }
  return true;
}

bool Router::take(Neighbour& from, const InFrame& frame, std::uint16_t hops) {
  if (stopped_) return true;
  std::string trouble;
  Neighbour* to = nullptr;
  InFrame routed = frame;
  if (!from.run.empty() && !admit(from, routed)) {
    settle(frame.receipt);  // another run must not be able to end this one
    return true;
  }
  if (dropped(routed)) {
    settle(frame.receipt);
    return true;
  }
  if (!is_gateway(from.node) && (frame.source != from.node || (frame.flags & kReturned) != 0)) {
    trouble = name(from.node) + " sent in the name of " + name(frame.source);
  } else if (hops == 0) {
    trouble = "the routes go in a circle: a message from " + name(frame.source) + " to " +
              name(frame.destination) + " has crossed " + std::to_string(kMaxHops) + " conduits";
  } else if (routed.flags == 0 && unreachable_.empty() && cut_off_.empty()) {
    to = next_hop(frame.destination, frame.body.size() > kExpressBody, trouble);
  } else {
    to = redirect(from.node, routed, hops, trouble);
    if (routed.flags != frame.flags) ++redirected_;
  }
  if (!trouble.empty()) {
    fail(trouble);
    return true;
  }
  if (to == nullptr) to = redirect(from.node, routed, hops, trouble);
  if (to == nullptr) {
    if (trouble.empty()) {
      settle(frame.receipt);
    } else {
      fail(trouble);
    }
    return true;
  }
  return pass_on(*to, from.node, routed, static_cast<std::uint16_t>(hops - 1));
}

bool Router::serves(std::size_t cluster) const {
  return std::find(clusters_.begin(), clusters_.end(), cluster) != clusters_.end();
}

// The neighbour for a process. Null without trouble: its ways are lost.
Router::Neighbour* Router::next_hop(NodeId process, bool bulk, std::string& trouble) const {
  if (!world_ || process >= static_cast<NodeId>(world_->size())) {
    trouble = "a message is for rank " + std::to_string(process) + ", which is not of this grid";
    return nullptr;
  }
  const std::size_t index = world_->cluster_of(static_cast<int>(process));
  if (!serves(index)) {
    const auto& nodes = routes_.to(index);
    if (!nodes.empty()) {
      Neighbour* const found = way(index, process, bulk);
      const auto known = [this](NodeId node) { return find(node) != nullptr; };
      if (found == nullptr && std::none_of(nodes.begin(), nodes.end(), known)) {
        trouble = name(config_.self) + " has no connection to " + name(nodes.front());
      }
      return found;
    }
    trouble = name(config_.self) + " knows no route to cluster \"" + world_->clusters[index].name +
              "\"; link the two, or a cluster between them";
    return nullptr;
  }
  Neighbour* const found = find(process);
  if (found == nullptr) trouble = name(config_.self) + " has no connection to " + name(process);
  return found;
}

// True: done with. False: kept until there is room.
bool Router::pass_on(Neighbour& to, NodeId from, const InFrame& frame, std::uint16_t hops) {
  if (to.left || to.gone) {  // credits that come too late
    settle(frame.receipt);
    return true;
  }
  const bool bulk = frame.body.size() > kExpressBody;
  if ((!bulk || to.held.empty()) && to.conduit->can_accept(bulk)) {
    trace::note<trace::Event::FramePassedOn>(from, to.node, frame.source, frame.destination,
                                             frame.kind);
    forward(to, frame, hops);
    return true;
  }
  trace::note<trace::Event::FrameHeldBack>(from, to.node, frame.source, frame.destination,
                                           frame.kind);
  to.held.add({from, frame, hops});
  return false;
}

void Router::forward(Neighbour& to, const InFrame& frame, std::uint16_t hops) {
  if (to.run.empty()) {
    to.conduit->forward(frame, hops);
  } else {
    InFrame crossing = frame;
    const Cluster& guests = world_->clusters[world_->cluster_of_node(frame.destination)];
    crossing.destination -= static_cast<NodeId>(guests.first);
    crossing.destination += static_cast<NodeId>(guests.there);
    to.conduit->forward(crossing, hops);
  }
  const Carried carried = carried_by(frame.kind, frame.body);
  to.messages += carried.messages;
  to.bytes += carried.bytes;
  if (clusters_.size() > 1 && !is_gateway(to.node)) {
    const std::size_t from = world_->cluster_of(static_cast<int>(frame.source));
    Crossing& crossing = crossings_[{from, world_->cluster_of(static_cast<int>(to.node))}];
    crossing.messages += carried.messages;
    crossing.bytes += carried.bytes;
    crossing.wire_bytes += kHeaderSize + frame.body.size();
    ++crossing.frames;
  }
  submitted(to);
}

void Router::progress(Neighbour& neighbour) {
  settle_passed_on(neighbour);
  release(neighbour);
}

// A neighbour may have room: sends it one frame from each waiting queue, in turn.
void Router::release(Neighbour& to) {
  while (!to.held.empty() && to.conduit->can_accept()) {
    const HeldFrame held = to.held.next();
    trace::note<trace::Event::FramePassedOn>(held.from, to.node, held.frame.source,
                                             held.frame.destination, held.frame.kind);
    forward(to, held.frame, held.hops);
    consume(held.from, held.frame.body.size());
  }
  if (routes_.several_ways() && to.held.empty() && is_gateway(to.node) &&
      to.conduit->can_accept()) {
    relieve(to);
  }
}

// This way has room: takes over frames that wait for other ways, if it leads there, too. But no
// frames that came from there, or that return to their source.
void Router::relieve(Neighbour& to) {
  const auto goes_here = [&](const HeldFrame& held) {
    const NodeId process = held.frame.destination;
    if (held.from == to.node || !to.conduit->can_accept() || (held.frame.flags & kReturned) != 0 ||
        !is_way(to, world_->cluster_of(static_cast<int>(process)), process)) {
      return false;
    }
    forward(to, held.frame, held.hops);
    consume(held.from, held.frame.body.size());
    return true;
  };
  for (const auto& [index, nodes] : routes_.all()) {
    if (nodes.size() < 2 || !is_way(to, index)) continue;
    for (const NodeId node : nodes) {
      Neighbour* const busy = node == to.node ? nullptr : find(node);
      if (busy != nullptr) busy->held.offer(goes_here);
    }
  }
}

// A frame from there takes no more room here.
void Router::consume(NodeId from, std::size_t body) {
  Neighbour* const neighbour = find(from);
  if (neighbour == nullptr) return;
  neighbour->conduit->consume(body);
  submitted(*neighbour);
}

// The node that keeps the frame for this gateway need not do so any longer.
void Router::settle(const Receipt& receipt) {
  if (receipt.from == kNobody) return;
  Neighbour* const from = find(receipt.from);
  if (from == nullptr || from->gone || from->conduit->config().session != receipt.session) return;
  from->conduit->settle(receipt.sequence);
  submitted(*from);
}

void Router::settle_passed_on(Neighbour& to) {
  for (const Receipt& receipt : to.conduit->take_settled()) settle(receipt);
}

void Router::left(Neighbour& neighbour) {
  neighbour.left = true;
  for (const HeldFrame& held : neighbour.held.take_all()) {
    consume(held.from, held.frame.body.size());
    settle(held.frame.receipt);
  }
  neighbour.conduit->settle_all();
  settle_passed_on(neighbour);
}

void Router::submitted(Neighbour& neighbour) {
  if (std::exchange(neighbour.unflushed, true)) return;
  unflushed_.push_back(&neighbour);
}

void Router::say(Action action) {
  if (!stopped_) actions_.push_back(std::move(action));
}

void Router::fail(const std::string& sentence) {
  say({.what = Action::What::Fail, .sentence = sentence});
  stopped_ = true;
}

std::optional<Router::Action> Router::poll() {
  while (true) {
    if (!actions_.empty()) {
      Action action = std::move(actions_.front());
      actions_.pop_front();
      return action;
    }
    if (!salvaged_.empty()) {
      Neighbour& neighbour = *salvaged_.back();
      salvaged_.pop_back();
      salvage(neighbour);
      continue;
    }
    if (unflushed_.empty()) return std::nullopt;
    Neighbour& neighbour = *unflushed_.back();
    unflushed_.pop_back();
    neighbour.unflushed = false;
    return Action{.what = Action::What::Flush, .neighbour = &neighbour};
  }
}

Router::Neighbour* Router::find(NodeId node) const {
  const auto found = neighbours_.find(node);
  return found == neighbours_.end() ? nullptr : found->second.get();
}

std::pair<std::size_t, std::size_t> Router::held() const {
  std::pair<std::size_t, std::size_t> sum{};
  for (const auto& [node, neighbour] : neighbours_) {
    const auto [frames, bytes] = neighbour->held.size();
    sum.first += frames;
    sum.second += bytes;
  }
  return sum;
}

std::string Router::name(NodeId node) const {
  return world_ ? world_->name_of(node) : World{}.name_of(node);
}

}  // namespace isthmus::core
