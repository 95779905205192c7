// For blocks of one size that do not fit in a post. In each round every rank posts a piece of each
// of its blocks. Then it takes such pieces from all others, beginning at the next rank.
#include <algorithm>

#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/buffer.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task alltoall_commons_pieces(Party& party, ConstBytes out, Sizes, Bytes in, Sizes,
                                    Parameters) {
  Commons& commons = *party.commons();
  const int ranks = party.layout().size(), me = party.rank();
  const std::size_t block = out.size() / static_cast<std::size_t>(ranks);
  const auto of = [block](int rank) { return static_cast<std::size_t>(rank) * block; };
  copy(out.subspan(of(me), block), in.subspan(of(me), block));
  const std::size_t each = commons.block_capacity();
  for (std::size_t at = 0; at < block; at += each) {
    const std::size_t size = std::min(each, block - at);
    co_await commons.make_room_for_blocks(size);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank != me) commons.put_block(rank, out.subspan(of(rank) + at, size));
    }
    commons.post();
    for (int step = 1; step < ranks; ++step) {
      const int rank = (me + step) % ranks;
      co_await commons.posted(rank);
      commons.take_block(rank, in.subspan(of(rank) + at, size));
    }
  }
}

namespace {

double cost_alltoall_commons_pieces(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const int pieces = rounds_for(setting.bytes(), setting.capacity, setting.capacity);
  return cost_of_rounds(setting, pieces, 2 * bytes);
}

}  // namespace

extern const Algorithm kAlltoallCommonsPieces{
    Kind::Alltoall,
    "commons-pieces",
    Demands{.known_bytes = true, .commons = true, .pieces = true},
    kNone,
    cost_alltoall_commons_pieces,
    alltoall_commons_pieces,
    ""};

}  // namespace isthmus::coll
