// The root posts, in pieces if the data does not fit in a post; all others wait for it alone.
#include <algorithm>

#include "coll/bcast/bcast.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

static Task bcast_commons(Party& party, Bytes data, int root, Parameters) {
  Commons& commons = *party.commons();
  const std::size_t each = posted_at_once(data.size(), commons.capacity(), kPostedPiece);
  std::size_t at = 0;
  do {
    const Bytes piece = data.subspan(at, std::min(each, data.size() - at));
    at += piece.size();
    if (party.rank() == root) {
      co_await commons.make_room(piece.size());
      commons.put(piece);
      commons.post();
    } else {
      commons.post();
      co_await commons.posted(root);
      commons.take(root, piece);
    }
  } while (at < data.size());
}

namespace {

double cost_bcast_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const int pieces = rounds_for(setting.bytes(), setting.capacity, kPostedPiece);
  return cost_of_rounds(setting, pieces, 2 * bytes);
}

}  // namespace

extern const Algorithm kBcastCommons{
    Kind::Bcast, "commons", kCommonsInPieces, kNone, cost_bcast_commons, bcast_commons, ""};

}  // namespace isthmus::coll
