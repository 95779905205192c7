// Everybody posts its vector, and combines its own part of all.
#include <numeric>

#include "coll/patterns/posts.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {

static Task reduce_scatter_commons(Party& party, ConstBytes in, Bytes out,
                                   std::vector<std::size_t> counts, Reduction& reduction,
                                   Parameters) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  co_await commons.make_room(in.size());
  commons.put(in);
  commons.post();
  co_await commons.posted_by_all();
  const auto mine = counts.begin() + party.rank();
  if (*mine == 0) co_return;
  const std::size_t before = std::accumulate(counts.begin(), mine, std::size_t{0});
  combine_posts(commons, party.layout().size() - 1, in.size(), reduction.packed_size(before), out,
                *mine, reduction);
}

namespace {

double cost_reduce_scatter_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_rounds(setting, 1, 2 * bytes, bytes);
}

}  // namespace

extern const Algorithm kReduceScatterCommons{
    Kind::ReduceScatter,    "commons", kCommons, kNone, cost_reduce_scatter_commons,
    reduce_scatter_commons, ""};

}  // namespace isthmus::coll
