// Reduces by posts, for all ranks (coll/patterns/posted_reduction.hpp).
#include "coll/allreduce/allreduce.hpp"
#include "coll/patterns/posted_reduction.hpp"

namespace isthmus::coll {

static Task allreduce_commons(Party& party, ConstBytes in, Bytes out, std::size_t count,
                              Reduction& reduction, Parameters parameters) {
  return posts_hold_elements(party, in, count)
             ? reduce_by_posts(party, in, out, count, reduction, kToAll)
         : party.reproducible() ? allreduce_ordered(party, in, out, count, reduction, parameters)
                                : allreduce_magpie(party, in, out, count, reduction, parameters);
}

extern const Algorithm kAllreduceCommons{
    Kind::Allreduce,   "commons", kCommonsInPieces, kNone, cost_reduce_by_posts,
    allreduce_commons, ""};

}  // namespace isthmus::coll
