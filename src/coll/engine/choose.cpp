#include "coll/engine/choose.hpp"

#include "coll/engine/commons.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/recent_choices.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {

bool fits(const Algorithm& algorithm, const Setting& setting) {
  const Demands& demands = algorithm.demands;
  const bool commutative = setting.problem.commutative;
  if (setting.problem.reproducible && !demands.ordered && !demands.commons) return false;
  if (demands.commutative && !commutative && !setting.layout.blocks()) return false;
  if (demands.commons) {
    const bool own = algorithm.kind == Kind::Gather || algorithm.kind == Kind::Allgather;
    const auto posts = static_cast<std::size_t>(own ? setting.layout.size() : 1);
    const bool more = setting.bytes() > setting.capacity * posts;
    if (setting.capacity == 0 || (more && !(demands.pieces && commutative))) return false;
  }
  return !demands.known_bytes || setting.problem.bytes.has_value();
}

namespace {

Choice of_least_cost(const Setting& setting) {
  Choice best;
  double least = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.kind != setting.problem.kind || !fits(algorithm, setting)) continue;
    if (algorithm.demands.by_name) continue;
    if (algorithm.demands.ordered && !setting.problem.reproducible) continue;
    if (setting.network.one_host ? algorithm.demands.wires : algorithm.demands.one_host) continue;
    if (algorithm.demands.divisible && !setting.problem.commutative) continue;
    const double cost = algorithm.cost(setting, {});
    if (best.algorithm != nullptr && cost >= least) continue;
    best.algorithm = &algorithm;
    least = cost;
  }
  return best;
}

}  // namespace

double estimate(const Algorithm& algorithm, const Setting& setting, const Parameters& parameters) {
  if (setting.network.pairs == nullptr) return algorithm.cost(setting, parameters);
  const Ways ways(setting.layout, setting.network);
  const Network here = ways.worst(setting.problem.home);
  const Ways* const differing = ways.differ() ? &ways : nullptr;
  return algorithm.cost({setting.layout, here, setting.problem, differing, setting.capacity},
                        parameters);
}

namespace {

Choice choose_by(const Setting& setting, const Forced& forced) {
  const Forced::Wish& wish = forced.of(setting.problem.kind);
  Choice choice = wish.algorithm != nullptr && fits(*wish.algorithm, setting)
                      ? Choice{wish.algorithm, wish.parameters}
                      : of_least_cost(setting);
  int& senders = choice.parameters.senders;
  if (choice.algorithm != nullptr && choice.algorithm->heeds.senders && senders == 0) {
    senders = carried_senders(setting.layout, setting.network);
  }
  return choice;
}

}  // namespace

Choice choose(const Setting& setting, const Forced& forced) {
  if (setting.network.pairs == nullptr) return choose_by(setting, forced);
  const Ways ways(setting.layout, setting.network);
  const Network here = ways.worst(setting.problem.home);
  const Ways* const differing = ways.differ() ? &ways : nullptr;
  return choose_by({setting.layout, here, setting.problem, differing, setting.capacity}, forced);
}

Choice choose(Party& party, const Problem& problem) {
  Setting setting{party.layout(), party.network(), problem};
  if (const Commons* const commons = party.commons()) setting.capacity = commons->capacity();
  RecentChoices* const recent = party.recent();
  const Choice* const kept = recent != nullptr ? recent->find(problem, setting.capacity) : nullptr;
  const Choice choice = kept != nullptr ? *kept : choose(setting, party.forced());
  if (recent != nullptr && kept == nullptr) recent->keep(problem, setting.capacity, choice);
  party.chosen(problem, choice);
  return choice;
}

}  // namespace isthmus::coll
