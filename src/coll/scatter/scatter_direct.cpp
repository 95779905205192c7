// The root sends every rank its block straight: each byte crosses once, without copies on other
// ranks. Blocks for other clusters go first, all at once; those within the cluster fill the rest of
// the root's link.
#include <deque>

#include "coll/engine/cost.hpp"
#include "coll/gather/gather.hpp"
#include "coll/patterns/pairwise.hpp"
#include "coll/scatter/scatter.hpp"

namespace isthmus::coll {
namespace {

/// Blocks on their way at a time.
constexpr std::size_t kUnderWay = 64;

Task scatter_from_root(Party& party, ConstBytes all, const Sizes& sizes, Bytes mine) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes offsets = offsets_of(sizes);
  std::deque<Pending> sends;
  int next = 0;
  const auto fill = [&] {
    for (; next < layout.size() && sends.size() < kUnderWay; ++next) {
      const auto r = static_cast<std::size_t>(next);
      if (layout.cluster_of(next) == here || sizes[r] == 0) continue;
      sends.push_back(party.send(next, kTagScatter, all.subspan(offsets[r], sizes[r])));
    }
  };
  fill();
  std::vector<ConstBytes> blocks;
  for (const int rank : layout.members(here)) {
    const auto r = static_cast<std::size_t>(rank);
    blocks.push_back(all.subspan(offsets[r], sizes[r]));
  }
  copy(blocks[static_cast<std::size_t>(my_index(party))], mine);
  co_await send_by_turns(party, std::move(blocks), kTagScatter);
  while (!sends.empty()) {
    co_await sends.front();
    sends.pop_front();
    fill();
  }
}

}  // namespace

Task scatter_direct(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters) {
  if (party.rank() == root) {
    co_await scatter_from_root(party, all, sizes, mine);
    co_return;
  }
  if (mine.empty()) co_return;
  std::vector<Pending> taken;
  if (my_cluster(party) == party.layout().cluster_of(root)) {
    receive_from_member(party, root, mine, kTagScatter, taken);
  } else {
    taken.push_back(party.recv(root, kTagScatter, mine));
  }
  for (auto& p : taken) co_await p;
}

extern const Algorithm kScatterDirect{Kind::Scatter,      "direct",       kNothing, kNone,
                                      cost_gather_direct, scatter_direct, ""};

}  // namespace isthmus::coll
