#include "coll/engine/choose.hpp"

namespace isthmus::coll {

bool fits(const Algorithm& algorithm, const Setting& setting) {
  const Demands& demands = algorithm.demands;
  const bool commutative = setting.problem.commutative;
  if (demands.commutative && !commutative && !setting.layout.blocks()) return false;
  return !demands.known_bytes || setting.problem.bytes.has_value();
}

Choice choose(const Setting& setting, const Forced& forced) {
  const Forced::Wish& wish = forced.of(setting.problem.kind);
  if (wish.algorithm != nullptr && fits(*wish.algorithm, setting)) {
    return {wish.algorithm, wish.parameters};
  }
  Choice best;
  double least = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.kind != setting.problem.kind || !fits(algorithm, setting)) continue;
    if (algorithm.demands.divisible && !setting.problem.commutative) continue;
    const double cost = algorithm.cost(setting, {});
    if (best.algorithm != nullptr && cost >= least) continue;
    best.algorithm = &algorithm;
    least = cost;
  }
  return best;
}

Choice choose(Party& party, const Problem& problem) {
  const Choice choice = choose(Setting{party.layout(), party.network(), problem}, party.forced());
  party.chosen(problem, choice);
  return choice;
}

}  // namespace isthmus::coll
