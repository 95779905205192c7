// Everybody posts its vector; the root combines them.
#include "coll/patterns/posts.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

Task reduce_commons(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                    int root, Parameters) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  {
    Pending room = commons.make_room(in.size());
    co_await room;
  }
  commons.put(in);
  commons.post();
  if (party.rank() != root) co_return;
  Pending all = commons.posted_by_all();
  co_await all;
  combine_posts(commons, party.layout().size() - 1, in.size(), 0, out, count, reduction);
}

namespace {

double cost_reduce_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_rounds(setting, 1, 2 * bytes, bytes * (setting.layout.size() - 1));
}

}  // namespace

const Algorithm kReduceCommons{Kind::Reduce,        "commons",      kCommons, kNone,
                               cost_reduce_commons, reduce_commons, ""};

}  // namespace isthmus::coll
