// Ways that are silent. Their patience is long, since networks and hosts come back. Until it ends
// the user gets a message now and then. If the grid has other ways, those are taken much earlier.
// Only the processes know whether another gateway of this cluster has one, so they are asked.
#include <algorithm>
#include <utility>

#include "core/router.hpp"
#include "core/time_text.hpp"

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
  for (const std::size_t index : carried(of)) {
    if (what == Action::What::Silent && has_way(index, true)) continue;
    say({.what = what, .cluster = index, .ask = ask});
  }
}

void Router::learn_other(std::size_t index) {
  const auto route = next_.find(index);
  if (route == next_.end()) return;
  for (const NodeId node : route->second) {
    Neighbour* const neighbour = find(node);
    if (neighbour == nullptr || neighbour->silence.length < config_.failover) continue;
    neighbour->silence.elsewhere.insert(index);
    give_up(*neighbour);
  }
}

// If all that it carries has other ways.
void Router::give_up(Neighbour& neighbour) {
  if (!opened_ || stopped_ || !neighbour.open()) return;
  const auto clusters = carried(neighbour);
  const bool all = std::all_of(clusters.begin(), clusters.end(), [&](std::size_t index) {
    return neighbour.silence.elsewhere.contains(index) || has_way(index, true);
  });
  if (clusters.empty() || !all) return;
  const Time whole = neighbour.silence.length - neighbour.silence.length % std::chrono::seconds(1);
  neighbour.conduit->fail("has not been heard for " + time_text(whole));
  submitted(neighbour);
}

}  // namespace isthmus::core
