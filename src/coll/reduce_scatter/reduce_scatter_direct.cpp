// Every rank gets its block of every other rank's vector, straight, and combines them in rank
// order. This works for any operation and any layout, but vectors cross whole.
#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {

Task reduce_scatter_direct(Party& party, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction& reduction, Parameters parameters) {
  const std::size_t ranks = counts.size(), size = out.size();
  Sizes sizes;
  for (const std::size_t count : counts) sizes.push_back(reduction.packed_size(count));
  if (total(sizes) == 0) co_return;
  Buffer arrived(ranks * size);
  Sizes each(ranks, size);
  co_await alltoall_direct(party, in, std::move(sizes), arrived.bytes(), std::move(each),
                           parameters);
  if (size == 0) co_return;
  const std::size_t mine = counts[static_cast<std::size_t>(party.rank())];
  copy(fold(reduction, arrived, size, ranks, mine), out);
}

namespace {

double cost_reduce_scatter_direct(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);  // whole vectors cross
  const double far = static_cast<double>(setting.bytes()) / setting.layout.size() * members;
  return cost_alltoall_direct(setting, parameters) + crowding(setting, far * (members - 1));
}

}  // namespace

extern const Algorithm kReduceScatterDirect{
    Kind::ReduceScatter,   "direct", kNothing, kNone, cost_reduce_scatter_direct,
    reduce_scatter_direct, ""};

}  // namespace isthmus::coll
