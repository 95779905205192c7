// For short vectors: everybody gets everybody's (allgather_counterparts, allgather_fan) and
// combines those that it needs, in rank order: any operation and any layout, the same bits on all
// ranks, one delay.
#include "coll/engine/implementations.hpp"
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

Task scan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction, party.rank());
}

Task exscan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                         Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction, party.rank() - 1);
}

Task allreduce_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                            Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction,
                party.layout().size() - 1);
}

Task scan_fan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
              Parameters) {
  return prefix(allgather_fan, party, in, out, count, reduction, party.rank());
}

Task exscan_fan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                Parameters) {
  return prefix(allgather_fan, party, in, out, count, reduction, party.rank() - 1);
}

}  // namespace isthmus::coll
