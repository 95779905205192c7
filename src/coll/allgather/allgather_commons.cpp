// Everybody posts its block, and takes those of all others.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/buffer.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

Task allgather_commons(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  Commons& commons = *party.commons();
  {
    Pending room = commons.make_room(mine.size());
    co_await room;
  }
  commons.put(mine);
  commons.post();
  std::size_t first = 0;
  for (int rank = 0; rank < party.layout().size(); ++rank) {
    const Bytes block = all.subspan(first, sizes[static_cast<std::size_t>(rank)]);
    first += block.size();
    Pending posted = commons.posted(rank);
    co_await posted;
    commons.take(rank, block);
  }
}

namespace {

double cost_allgather_commons(const Setting& setting, const Parameters&) {
  return cost_of_rounds(setting, 1, static_cast<double>(setting.bytes()));
}

}  // namespace

const Algorithm kAllgatherCommons{Kind::Allgather,        "commons",         kCommons, kNone,
                                  cost_allgather_commons, allgather_commons, ""};

}  // namespace isthmus::coll
