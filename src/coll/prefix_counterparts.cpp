// For short vectors: everybody gets everybody's (allgather_counterparts) and combines those up to
// its own, in rank order; for an allreduce, all of them, so that everybody gets the same bits. One
// delay, whatever the layout.
#include "coll/implementations.hpp"
#include "coll/phases.hpp"

namespace isthmus::coll {
namespace {

/// The vectors of ranks 0 to `last`, combined into `out`.
Task prefix(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
            int last, Parameters parameters) {
  const auto ranks = static_cast<std::size_t>(party.layout().size());
  if (in.empty()) co_return;
  Buffer all(ranks * in.size());
  Sizes sizes(ranks, in.size());
  co_await allgather_counterparts(party, in, all.bytes(), std::move(sizes), parameters);
  if (last < 0) co_return;
  copy(fold(reduction, all, in.size(), static_cast<std::size_t>(last) + 1, count), out);
}

}  // namespace

Task scan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction, Parameters parameters) {
  return prefix(party, in, out, count, reduction, party.rank(), parameters);
}

Task allreduce_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                            Reduction& reduction, Parameters parameters) {
  return prefix(party, in, out, count, reduction, party.layout().size() - 1, parameters);
}

Task exscan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                         Reduction& reduction, Parameters parameters) {
  return prefix(party, in, out, count, reduction, party.rank() - 1, parameters);
}

}  // namespace isthmus::coll
