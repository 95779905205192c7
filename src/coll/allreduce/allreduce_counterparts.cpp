// For short vectors: everybody gets everybody's by the allgather between counterparts and combines
// them (patterns/short_vectors.cpp).
#include "coll/allgather/allgather.hpp"
#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {

Task allreduce_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                            Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction,
                party.layout().size() - 1);
}

extern const Algorithm kAllreduceCounterparts{
    Kind::Allreduce,        "counterparts",         kNothing, kNone,
    cost_scan_counterparts, allreduce_counterparts, ""};

}  // namespace isthmus::coll
