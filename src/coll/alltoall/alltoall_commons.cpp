// Everybody posts a block for each rank, and takes its own blocks from the others. Blocks that do
// not fit go as messages beside the round: both ends know their size.
#include <algorithm>

#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task alltoall_commons(Party& party, ConstBytes out, Sizes out_sizes, Bytes in,
                             Sizes in_sizes, Parameters) {
  Commons& commons = *party.commons();
  const int ranks = party.layout().size();
  const Sizes from = offsets_of(out_sizes), to = offsets_of(in_sizes);
  const auto here = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return in.subspan(to[r], in_sizes[r]);
  };
  const auto has_room = [&](int rank, std::size_t size) {
    return rank != party.rank() && size <= commons.block_capacity();
  };
  std::vector<Pending> messages;
  for (int rank = 0; rank < ranks; ++rank) {
    const Bytes block = here(rank);
    if (rank == party.rank() || has_room(rank, block.size())) continue;
    messages.push_back(party.recv(rank, kTagAlltoall, block));
  }
  std::size_t largest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t size = out_sizes[static_cast<std::size_t>(rank)];
    if (has_room(rank, size)) largest = std::max(largest, size);
  }
  co_await commons.make_room_for_blocks(largest);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const ConstBytes block = out.subspan(from[r], out_sizes[r]);
    if (rank == party.rank()) {
      copy(block, here(rank));
    } else if (has_room(rank, block.size())) {
      commons.put_block(rank, block);
    } else {
      messages.push_back(party.send(rank, kTagAlltoall, block));
    }
  }
  commons.post();
  for (int rank = 0; rank < ranks; ++rank) {
    const Bytes block = here(rank);
    if (!has_room(rank, block.size())) continue;
    co_await commons.posted(rank);
    commons.take_block(rank, block);
  }
  for (auto& p : messages) co_await p;
}

namespace {

double cost_alltoall_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_rounds(setting, 1, 2 * bytes);
}

}  // namespace

extern const Algorithm kAlltoallCommons{Kind::Alltoall,        "commons",        kCommons, kNone,
                                        cost_alltoall_commons, alltoall_commons, ""};

}  // namespace isthmus::coll
