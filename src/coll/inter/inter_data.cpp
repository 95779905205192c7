// Collectives of intercommunicators that move data. A rooted one is that of the root and the other
// side. An allgather is two gathers, each at the other side's first rank, which spreads the blocks.
#include "coll/engine/concurrent.hpp"
#include "coll/engine/portion.hpp"
#include "coll/inter/inter.hpp"
#include "coll/inter/members.hpp"
#include "coll/inter/subset.hpp"

namespace isthmus::coll {

Task inter_bcast(Party& party, TwoSides sides, Bytes data, int root) {
  if (root == kNoPart) co_return;
  Subset subset(party, one_and_others(sides, root));
  co_await bcast(subset, data, subset.rank_of(root));
}

Task inter_gather(Party& party, TwoSides sides, ConstBytes mine, Bytes all, Sizes sizes, int root) {
  if (root == kNoPart) co_return;
  Subset subset(party, one_and_others(sides, root));
  Task gathered =
      gather(subset, mine, all, with_one(sides, root, std::move(sizes)), subset.rank_of(root));
  co_await gathered;
}

Task inter_scatter(Party& party, TwoSides sides, ConstBytes all, Sizes sizes, Bytes mine,
                   int root) {
  if (root == kNoPart) co_return;
  Subset subset(party, one_and_others(sides, root));
  Task scattered =
      scatter(subset, all, with_one(sides, root, std::move(sizes)), mine, subset.rank_of(root));
  co_await scattered;
}

namespace {

/// Brings the blocks of the other side than `to`'s to `to`. The two that go on side by side differ
/// in their lanes.
Task gather_across(Party& party, TwoSides sides, int to, ConstBytes mine, Bytes all, Sizes sizes) {
  const auto lane = sides.side_of(to) == 0 ? Subset::Lane::First : Subset::Lane::Second;
  Subset subset(party, one_and_others(sides, to), lane);
  Task gathered =
      gather(subset, mine, all, with_one(sides, to, std::move(sizes)), subset.rank_of(to));
  co_await gathered;
}

}  // namespace

Task inter_allgather(Party& party, TwoSides sides, ConstBytes mine, Bytes all, Sizes sizes) {
  const int side = sides.side_of(party.rank());
  const bool first = party.rank() == sides.begin_of(side);
  std::vector<Task> both;
  both.push_back(gather_across(party, sides, sides.begin_of(1 - side), mine, {}, {}));
  if (first) {
    both.push_back(gather_across(party, sides, party.rank(), {}, all, std::move(sizes)));
  }
  Pending across = all_of(std::move(both));
  co_await across;
  Subset own(party, members_of(sides, side));
  co_await bcast(own, all, 0);
}

Task inter_alltoall(Party& party, TwoSides sides, ConstBytes out, Sizes out_sizes, Bytes in,
                    Sizes in_sizes) {
  const int side = sides.side_of(party.rank());
  const auto own = static_cast<std::size_t>(sides.size_of(side));
  out_sizes.insert(side == 0 ? out_sizes.begin() : out_sizes.end(), own, 0);
  in_sizes.insert(side == 0 ? in_sizes.begin() : in_sizes.end(), own, 0);
  Task exchanged = alltoall(party, out, std::move(out_sizes), in, std::move(in_sizes));
  co_await exchanged;
}

}  // namespace isthmus::coll
