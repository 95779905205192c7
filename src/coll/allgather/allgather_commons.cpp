// Every rank posts its block, in pieces if it does not fit in a post, and takes those of all
// others.
#include <algorithm>

#include "coll/allgather/allgather.hpp"
#include "coll/engine/portion.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task allgather_commons(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  Commons& commons = *party.commons();
  const Sizes first = offsets_of(sizes);
  const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
  const std::size_t each = posted_at_once(longest, commons.capacity(), kPostedPiece);
  std::size_t at = 0;
  do {
    const auto here = [&](std::size_t size) { return std::min(each, size - std::min(at, size)); };
    co_await commons.make_room(here(mine.size()));
    commons.put(mine.subspan(std::min(at, mine.size()), here(mine.size())));
    commons.post();
    for (int rank = 0; rank < party.layout().size(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const Bytes block = all.subspan(first[r] + std::min(at, sizes[r]), here(sizes[r]));
      co_await commons.posted(rank);
      commons.take(rank, block);
    }
    at += each;
  } while (at < longest);
}

namespace {

double cost_allgather_commons(const Setting& setting, const Parameters&) {
  const std::size_t block = setting.bytes() / static_cast<std::size_t>(setting.layout.size());
  const int pieces = rounds_for(block, setting.capacity, kPostedPiece);
  return cost_of_rounds(setting, pieces, static_cast<double>(setting.bytes()));
}

}  // namespace

extern const Algorithm kAllgatherCommons{
    Kind::Allgather,   "commons", kCommonsInPieces, kNone, cost_allgather_commons,
    allgather_commons, ""};

}  // namespace isthmus::coll
