// Over all ranks alike: reduce-scatter by halving, then every rank sends its part to the root
// (Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004).
#include <numeric>

#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/halving.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

static Task reduce_rabenseifner(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                Reduction& reduction, int root, Parameters) {
  const std::size_t size = reduction.packed_size(count);
  if (size == 0) co_return;
  std::vector<int> all(static_cast<std::size_t>(party.layout().size()));
  std::iota(all.begin(), all.end(), 0);
  Buffer own(party.rank() == root ? 0 : size);
  const Bytes vector = party.rank() == root ? out : own.bytes();
  copy(in, vector);
  co_await reduce_by_halving(party, all, vector, count, reduction, kTagReduce);
  const auto shares = shares_after_reduce(all, count, reduction.packed_size(1));
  const std::vector<Share> whole{{root, 0, size}};
  co_await redistribute(party, vector, shares, whole, kTagReduceCopy);
}

namespace {

double cost_reduce_rabenseifner(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int ranks = setting.layout.size();
  const double crossing = static_cast<double>(setting.bytes()) / network.wan_bandwidth *
                          (setting.layout.clusters() - 1);
  return explicit_steps(network, ranks, setting.bytes()) + link_time(network, setting.bytes()) +
         2 * network.message_cost + crossing + (rounds(ranks) + 1) * network.wan_latency +
         folding(setting, static_cast<double>(ranks - 1) / ranks);
}

}  // namespace

extern const Algorithm kReduceRabenseifner{
    Kind::Reduce,        "rabenseifner",           kCutOneHost, kNone, cost_reduce_rabenseifner,
    reduce_rabenseifner, "Rabenseifner, ICCS 2004"};

}  // namespace isthmus::coll
