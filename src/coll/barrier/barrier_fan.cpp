// The members of a cluster notify its leader, each leader notifies all ranks, and a rank leaves
// when all leaders have notified it. For few ranks (fan.hpp).
#include "coll/barrier/barrier.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/fan.hpp"

namespace isthmus::coll {

Task barrier_fan(Party& party, Parameters) {
  const Layout& layout = party.layout();
  std::vector<Pending> pending;
  const auto nowhere = [](int) { return Bytes{}; };
  receive_from_leaders(party, kTagBarrier, nowhere, pending, true);
  const Sizes nothing(layout.members(my_cluster(party)).size(), 0);
  co_await fan_in(party, {}, {}, nothing, kTagBarrier, true);
  const auto empty = [](int) { return ConstBytes{}; };
  fan_out(party, kTagBarrier, empty, pending, true);
  for (auto& p : pending) co_await p;
}

namespace {

double cost_barrier_fan(const Setting& setting, const Parameters&) {
  return cost_of_fan(setting, 0, 0) + detours(setting, 0);
}

}  // namespace

extern const Algorithm kBarrierFan{Kind::Barrier,    "fan",       kNothing, kNone,
                                   cost_barrier_fan, barrier_fan, ""};

}  // namespace isthmus::coll
