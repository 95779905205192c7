// The root posts all blocks; everybody takes its own. Blocks that do not fit go as messages beside
// the round: both ends know their size.
#include <algorithm>

#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/posts.hpp"
#include "coll/scatter/scatter.hpp"

namespace isthmus::coll {

static Task scatter_commons(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root,
                            Parameters) {
  Commons& commons = *party.commons();
  if (party.rank() != root) {
    commons.post();
    if (mine.size() > commons.block_capacity()) {
      co_await party.recv(root, kTagScatter, mine);
    } else {
      co_await commons.posted(root);
      commons.take_block(root, mine);
    }
    co_return;
  }
  std::size_t largest = 0;
  for (int rank = 0; rank < party.layout().size(); ++rank) {
    const std::size_t size = sizes[static_cast<std::size_t>(rank)];
    if (rank != root && size <= commons.block_capacity()) largest = std::max(largest, size);
  }
  co_await commons.make_room_for_blocks(largest);
  std::vector<Pending> sent;
  std::size_t first = 0;
  for (int rank = 0; rank < party.layout().size(); ++rank) {
    const ConstBytes block = all.subspan(first, sizes[static_cast<std::size_t>(rank)]);
    first += block.size();
    if (rank == root) {
      copy(block, mine);
    } else if (block.size() > commons.block_capacity()) {
      sent.push_back(party.send(rank, kTagScatter, block));
    } else {
      commons.put_block(rank, block);
    }
  }
  commons.post();
  for (auto& p : sent) co_await p;
}

namespace {

double cost_scatter_commons(const Setting& setting, const Parameters&) {
  return cost_of_rounds(setting, 1, static_cast<double>(setting.bytes()));
}

}  // namespace

extern const Algorithm kScatterCommons{Kind::Scatter,        "commons",       kCommons, kNone,
                                       cost_scatter_commons, scatter_commons, ""};

}  // namespace isthmus::coll
