// One round: everybody posts, and waits for all.
#include "coll/barrier/barrier.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task barrier_commons(Party& party, Parameters) {
  Commons& commons = *party.commons();
  commons.post();
  co_await commons.posted_by_all();
}

namespace {

double cost_barrier_commons(const Setting& setting, const Parameters&) {
  return cost_of_rounds(setting, 1, 0);
}

}  // namespace

extern const Algorithm kBarrierCommons{Kind::Barrier,        "commons",       kCommons, kNone,
                                       cost_barrier_commons, barrier_commons, ""};

}  // namespace isthmus::coll
