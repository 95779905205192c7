// When a way is silent, or lost for good, but the grid has others.
//
// The gateway reports to its processes and neighbours which clusters it does not reach any more,
// and sends frames for those back to where they came from (kReturned). A gateway on the way that
// knows another way, or else the source itself, sends them again (kRepeated). Frames on the link
// may have arrived, so receivers drop duplicates.
//
// If a cluster has several gateways, they and the sources keep the frames that they pass on until
// the destination has them (core/conduit/conduit.hpp, "Custody"). A gateway that dies takes nothing
// with it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/time_text.hpp"
#include "core/router/router.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {
namespace {

constexpr Time kFirstTold = std::chrono::seconds(30);
// The interval of checks of the silent ones.
constexpr Time kPeriod = std::chrono::milliseconds(100);

// A conduit is silent after this time without data.
Time limit(const ConduitConfig& config) {
  return std::min(config.stream_timeout, config.patience / 2);
}

}  // namespace

void Router::lost(Neighbour& neighbour, const std::string& sentence, bool known) {
  neighbour.gone = true;
  if (forgotten(neighbour.node)) return;
  // Before all have joined, news of joined processes may have been lost with it.
  if (stopped_ || !opened_) return fail(sentence);
  const std::size_t suspected = suspected_.size();
  if (!is_gateway(neighbour.node)) {
    if (!lose_process(neighbour.node, sentence) &&
        !suspect(world_->cluster_of_node(neighbour.node), sentence)) {
      return fail(sentence);
    }
  }
  for (const std::size_t index : routes_.clusters_by(neighbour.node)) {
    if (!lose_way(index, sentence, neighbour.silence.elsewhere.contains(index))) {
      return fail(sentence);
    }
  }
  if (!known && (suspected_.size() == suspected || has_fellows())) {
    say({.what = Action::What::Warn, .sentence = sentence + "; what it carried goes other ways"});
  }
  salvaged_.push_back(&neighbour);
}

// Whether frames for a cluster, or a process of it, may go by it.
bool Router::is_way(const Neighbour& neighbour, std::size_t index, NodeId process) const {
  return neighbour.open() && routes_.leads(neighbour.node, index, process);
}

// The best of the present ways to a cluster: one that is heard, with room, and of those the one
// with the smallest backlog; among equals, the first. Null without a way.
Router::Neighbour* Router::way(std::size_t index, NodeId process, bool bulk) const {
  const auto& nodes = routes_.to(index);
  if (nodes.size() == 1 && routes_.whole()) return find(nodes.front());
  Neighbour* best = nullptr;
  std::tuple<bool, bool, std::size_t> least;
  for (const NodeId node : nodes) {
    Neighbour* const neighbour = find(node);
    if (neighbour == nullptr || !is_way(*neighbour, index, process)) continue;
    const bool room = neighbour->conduit->can_accept(bulk) && (!bulk || neighbour->held.empty());
    const std::tuple cost(!neighbour->heard(), !room, neighbour->conduit->backlog());
    if (best == nullptr || cost < least) {
      best = neighbour;
      least = cost;
    }
  }
  return best;
}

bool Router::has_way(std::size_t index, bool heard) const {
  return std::any_of(neighbours_.begin(), neighbours_.end(), [&](const auto& entry) {
    return is_way(*entry.second, index) && (!heard || entry.second->heard());
  });
}

// Its neighbours may have other ways: processes by other gateways of their cluster, gateways.
bool Router::has_fellows() const {
  return clusters_.empty() ||
         std::any_of(world_->gateways.begin(), world_->gateways.end(),
                     [this](const Gateway& gateway) {
                       return gateway.node != config_.self &&
                              std::any_of(clusters_.begin(), clusters_.end(),
                                          [&](std::size_t c) { return gateway.serves(c); });
                     });
}

// A way to a cluster is lost; `elsewhere`: a process reports that another gateway reaches it.
// False: the grid is lost with it, as no other node here has a way.
bool Router::lose_way(std::size_t index, const std::string& sentence, bool elsewhere) {
  if (has_way(index, elsewhere) || forgotten_cluster(index)) return true;
  const bool fellows = has_fellows();
  if (!fellows && !config_.survives) return false;
  trace::note<trace::Event::WayLost>(index);
  unreachable_.emplace(index, sentence);
  if (fellows) say({.what = Action::What::Lost, .cluster = index, .sentence = sentence});
  suspect(index, sentence);
  return true;
}

// The way to a process is lost, while others of its cluster are reached. False: the grid is lost
// with it, as no other node has a way.
bool Router::lose_process(NodeId process, const std::string& sentence) {
  const std::size_t index = world_->cluster_of_node(process);
  const auto leads_there = [&](const auto& entry) { return is_way(*entry.second, index, process); };
  if (std::any_of(neighbours_.begin(), neighbours_.end(), leads_there)) return true;
  const auto serving = std::count_if(world_->gateways.begin(), world_->gateways.end(),
                                     [index](const Gateway& g) { return g.serves(index); });
  if (serving < 2 || !has_fellows()) return false;
  if (!cut_off_.insert(process).second) return true;
  say({.what = Action::What::Lost, .cluster = index, .process = process, .sentence = sentence});
  return true;
}

void Router::learn_cut_off(Neighbour& from, NodeId process, const std::string& sentence) {
  if (!world_ || process >= static_cast<NodeId>(world_->size())) return;
  const std::size_t index = world_->cluster_of_node(process);
  if (serves(index) || !routes_.cut_off(from.node, index, process)) return;
  if (!lose_process(process, sentence) && !suspect(index, sentence)) fail(sentence);
}

void Router::learn_lost(Neighbour& from, std::size_t index, const std::string& sentence) {
  if (!world_ || index >= world_->clusters.size() || serves(index)) return;
  if (!routes_.lose(from.node, index) || unreachable_.contains(index)) return;
  if (!lose_way(index, sentence, false)) fail(sentence);
}

// Sends the frames that waited for the link another way.
void Router::salvage(Neighbour& neighbour) {
  if (stopped_) return;
  std::string trouble;
  neighbour.conduit->salvage([&](const InFrame& frame) {
    InFrame again = frame;
    std::uint16_t hops = kMaxHops;
    if (again.flags == 0) again.flags = kRepeated;  // if the new way begins here
    ++redirected_;
    Neighbour* const to = redirect(neighbour.node, again, hops, trouble);
    // It has been consumed: no window is charged for it any more.
    if (to != nullptr) {
      pass_on(*to, kNobody, again, hops);
    } else {
      settle(frame.receipt);
    }
  });
  for (const HeldFrame& held : neighbour.held.take_all()) {
    InFrame again = held.frame;
    std::uint16_t hops = kMaxHops;
    ++redirected_;
    Neighbour* const to = redirect(held.from, again, hops, trouble);
    if (to == nullptr) settle(again.receipt);
    if (to == nullptr || pass_on(*to, held.from, again, hops)) {
      consume(held.from, again.body.size());
    }
  }
  if (!trouble.empty()) fail(trouble);
}

// Nodes that kept frames in custody for it, and for those behind it, have them here. So nothing is
// lost on that account, and the destination drops duplicates.
void Router::renew(Neighbour& neighbour, Conduit& conduit) {
  settle_passed_on(neighbour);
  for (const auto& [to, other] : neighbours_) other->held.disown(neighbour.node);
  const Conduit& before = *std::exchange(neighbour.conduit, &conduit);
  if (keeps_custody(neighbour.node)) conduit.keep_custody();
  routes_.forget(neighbour.node);
  before.salvage([&](const InFrame& frame) {
    InFrame again = frame;
    if (again.flags == 0) again.flags = kRepeated;
    ++redirected_;
    conduit.forward(again, kMaxHops);
  });
  submitted(neighbour);
}

// The next hop of a frame after ways have been lost; sets its flags accordingly. Null without
// trouble: this gateway need not send it.
Router::Neighbour* Router::redirect(NodeId from, InFrame& frame, std::uint16_t& hops,
                                    std::string& trouble) {
  const bool bulk = frame.body.size() > kExpressBody;
  const auto index_of = [this](NodeId process) {
    return world_ && process < static_cast<NodeId>(world_->size())
               ? world_->cluster_of(static_cast<int>(process))
               : SIZE_MAX;
  };
  const auto reached = [&](NodeId process) {
    return !unreachable_.contains(index_of(process)) && !cut_off_.contains(process);
  };
  const bool returned = (frame.flags & kReturned) != 0;
  if (dropped(frame) || (drops_unreachable() && !reached(frame.destination))) return nullptr;
  if (reached(frame.destination)) {
    // A frame comes back by a way that it should take: its sender does not reach the destination
    // any more. It will report that, but with several streams the report may come later.
    if (returned) routes_.cut_off(from, index_of(frame.destination), frame.destination);
    Neighbour* const to = next_hop(frame.destination, bulk, trouble);
    if (!trouble.empty()) return nullptr;
    if (to != nullptr && !returned) return to;
    if (to != nullptr && to->node != from) {
      frame.flags = kRepeated;
      return to;
    }
  }
  if (!reached(frame.source)) {
    const auto found = unreachable_.find(index_of(frame.source));
    // A process that is cut off has the frame in custody, and sends it again by another gateway.
    if (found != unreachable_.end() && !config_.survives) trouble = found->second;
    return nullptr;
  }
  if (!returned) hops = kMaxHops;
  frame.flags = kReturned;
  Neighbour* const back = next_hop(frame.source, bulk, trouble);
  if (back == nullptr && trouble.empty() && !config_.survives) {
    trouble = name(frame.source) + " is not reached any more";
  }
  return back;
}

// ---- silence ------------------------------------------------------------------------------------

// The patience of links is long, since networks and hosts come back. Until it ends, the user gets a
// message now and then. If the grid has other ways, those are taken much earlier. Only the
// processes know whether another gateway of this cluster has one, so they are asked.

void Router::tick(Time now) {
  now_ = now;
  if (stopped_ || !world_) return;
  for (const auto& [node, neighbour] : neighbours_) {
    if (watched(node, *neighbour)) watch(*neighbour);
  }
}

bool Router::watched(NodeId node, const Neighbour& neighbour) const {
  return is_gateway(node) && neighbour.run.empty() && neighbour.open();
}

// A neighbour is silent only after its limit, which moves on while it is heard.
Time Router::next_tick() const {
  Time next = Time::max();
  if (stopped_ || !world_) return next;
  for (const auto& [node, neighbour] : neighbours_) {
    if (!watched(node, *neighbour)) continue;
    const Conduit& conduit = *neighbour->conduit;
    const Time left = limit(conduit.config()) - conduit.silence(now_);
    next = std::min(next, now_ + (neighbour->silence.begun ? kPeriod : left));
  }
  return next;
}

void Router::watch(Neighbour& neighbour) {
  const Conduit& conduit = *neighbour.conduit;
  Silence& state = neighbour.silence;
  const Time silence = conduit.silence(now_), patience = conduit.config().patience;
  if (silence < limit(conduit.config())) {
    if (!state.begun) return;
    if (state.told > Time::zero()) {
      say({.what = Action::What::Resumed, .neighbour = &neighbour, .length = state.length});
    }
    state = {};
    tell_processes(Action::What::Heard, neighbour, false);
    return;
  }
  state.length = silence;
  const bool first = !std::exchange(state.begun, true);
  if (state.length >= std::max(std::min(kFirstTold, patience / 4), 2 * state.told)) {
    state.told = state.length;
    say({.what = Action::What::Waiting, .neighbour = &neighbour, .length = state.length});
  }
  if (opened_ && state.length >= config_.failover) {
    if (now_ - state.asked >= config_.failover / 2) {
      // Their earlier answers may not be true any more.
      state.asked = now_;
      state.elsewhere.clear();
      tell_processes(Action::What::Silent, neighbour, true);
    }
    give_up(neighbour);
  } else if (first) {
    tell_processes(Action::What::Silent, neighbour, false);
  }
}

// If this gateway is its clusters' only one, the processes know no other gateway. If it hears the
// cluster by another way, they need not know.
void Router::tell_processes(Action::What what, const Neighbour& of, bool ask) {
  if (!has_fellows()) return;
  for (const std::size_t index : routes_.clusters_by(of.node)) {
    if (what == Action::What::Silent && has_way(index, true)) continue;
    say({.what = what, .cluster = index, .ask = ask});
  }
}

void Router::learn_other(std::size_t index) {
  for (const NodeId node : routes_.to(index)) {
    Neighbour* const neighbour = find(node);
    if (neighbour == nullptr || neighbour->silence.length < config_.failover) continue;
    neighbour->silence.elsewhere.insert(index);
    give_up(*neighbour);
  }
}

// If all that it carries has other ways.
void Router::give_up(Neighbour& neighbour) {
  if (!opened_ || stopped_ || !neighbour.open()) return;
  const auto clusters = routes_.clusters_by(neighbour.node);
  const bool all = std::all_of(clusters.begin(), clusters.end(), [&](std::size_t index) {
    return neighbour.silence.elsewhere.contains(index) || has_way(index, true);
  });
  if (clusters.empty() || !all) return;
  const Time whole = neighbour.silence.length - neighbour.silence.length % std::chrono::seconds(1);
  neighbour.conduit->fail("has not been heard for " + time_text(whole));
  submitted(neighbour);
}

}  // namespace isthmus::core
