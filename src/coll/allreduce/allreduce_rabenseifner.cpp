// Reduces and scatters over all ranks alike, then gathers (Rabenseifner, "Optimization of
// Collective Reduction Operations", ICCS 2004).
#include <numeric>

#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/halving.hpp"

namespace isthmus::coll {

static Task allreduce_rabenseifner(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                   Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  std::vector<int> all(static_cast<std::size_t>(party.layout().size()));
  std::iota(all.begin(), all.end(), 0);
  copy(in, out);
  co_await reduce_by_halving(party, all, out, count, reduction, kTagAllreduce);
  const auto shares = shares_after_reduce(all, count, reduction.packed_size(1));
  co_await gather_shares(party, all, shares, out, kTagAllreduceSpread);
}

namespace {

double cost_allreduce_rabenseifner(const Setting& setting, const Parameters&) {
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const int members = largest_cluster(layout);
  const bool aligned = layout.blocks() && members == smallest_cluster(layout) &&
                       rounds(members) < rounds(members + 1);
  // If aligned, the last halves cross: together one vector. Otherwise whole vectors of many ranks.
  const double crossing = static_cast<double>(setting.bytes()) / network.wan_bandwidth *
                          (aligned ? layout.clusters() - 1 : members);
  const int steps = aligned ? rounds(layout.clusters()) : rounds(layout.size());
  return 2 * explicit_steps(network, layout.size(), setting.bytes()) + crossing +
         2 * steps * network.wan_latency +
         folding(setting, static_cast<double>(layout.size() - 1) / layout.size());
}

}  // namespace

extern const Algorithm kAllreduceRabenseifner{Kind::Allreduce,
                                              "rabenseifner",
                                              kCutOneHost,
                                              kNone,
                                              cost_allreduce_rabenseifner,
                                              allreduce_rabenseifner,
                                              "Rabenseifner, ICCS 2004"};
}  // namespace isthmus::coll
