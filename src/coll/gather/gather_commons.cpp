// Everybody posts its block; the root takes them. Blocks that do not fit go as messages beside the
// round: both ends know their size.
#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task gather_commons(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root,
                           Parameters) {
  Commons& commons = *party.commons();
  if (party.rank() != root) {
    Pending sent;
    if (mine.size() > commons.capacity()) {
      sent = party.send(root, kTagGather, mine);
    } else {
      co_await commons.make_room(mine.size());
      commons.put(mine);
    }
    commons.post();
    co_await sent;
    co_return;
  }
  commons.post();
  std::vector<Pending> received;
  std::size_t first = 0;
  for (int rank = 0; rank < party.layout().size(); ++rank) {
    const Bytes block = all.subspan(first, sizes[static_cast<std::size_t>(rank)]);
    first += block.size();
    if (rank == root) {
      copy(mine, block);
    } else if (block.size() > commons.capacity()) {
      received.push_back(party.recv(rank, kTagGather, block));
    } else {
      co_await commons.posted(rank);
      commons.take(rank, block);
    }
  }
  for (auto& p : received) co_await p;
}

namespace {

double cost_gather_commons(const Setting& setting, const Parameters&) {
  return cost_of_rounds(setting, 1, static_cast<double>(setting.bytes()));
}

}  // namespace

extern const Algorithm kGatherCommons{Kind::Gather,        "commons",      kCommons, kNone,
                                      cost_gather_commons, gather_commons, ""};

}  // namespace isthmus::coll
