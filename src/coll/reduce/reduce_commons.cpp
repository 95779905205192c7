// Reduces by posts, for the root (coll/patterns/posted_reduction.hpp).
#include "coll/patterns/posted_reduction.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

static Task reduce_commons(Party& party, ConstBytes in, Bytes out, std::size_t count,
                           Reduction& reduction, int root, Parameters parameters) {
  return posts_hold_elements(party, in, count)
             ? reduce_by_posts(party, in, out, count, reduction, root)
         : party.reproducible() ? reduce_ordered(party, in, out, count, reduction, root, parameters)
                                : reduce_magpie(party, in, out, count, reduction, root, parameters);
}

extern const Algorithm kReduceCommons{
    Kind::Reduce, "commons", kCommonsInPieces, kNone, cost_reduce_by_posts, reduce_commons, ""};

}  // namespace isthmus::coll
