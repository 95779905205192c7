// For short vectors. Every rank gets all vectors (allgather_counterparts, allgather_fan) and
// combines those that it needs, in rank order. This works for any operation and any layout, with
// the same bits on all ranks, after one delay.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

Task prefix(Allgather allgather, Party& party, ConstBytes in, Bytes out, std::size_t count,
            Reduction& reduction, int last) {
  const auto ranks = static_cast<std::size_t>(party.layout().size());
  if (in.empty()) co_return;
  Buffer all(ranks * in.size());
  co_await allgather(party, in, all.bytes(), Sizes(ranks, in.size()), {});
  if (last < 0) co_return;
  copy(fold(reduction, all, in.size(), static_cast<std::size_t>(last) + 1, count), out);
}

}  // namespace isthmus::coll
