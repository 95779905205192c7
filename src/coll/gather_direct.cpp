// Every rank of another cluster sends its block straight to the root: each byte crosses once and
// passes through nobody's memory in between. The root's own cluster gathers natively meanwhile.
#include "coll/implementations.hpp"
#include "coll/phases.hpp"

namespace isthmus::coll {
namespace {

Task gather_at_root(Party& party, ConstBytes mine, Bytes all, const Sizes& sizes) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes offsets = offsets_of(sizes);
  std::vector<Pending> pending;
  for (int rank = 0; rank < layout.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (layout.cluster_of(rank) == here || sizes[r] == 0) continue;
    pending.push_back(party.recv(rank, kTagGather, all.subspan(offsets[r], sizes[r])));
  }
  TargetPortion portion(layout, here, all, offsets);
  const Sizes local = sizes_in(layout, here, sizes);
  pending.push_back(party.local_gather(mine, portion.bytes(), local, my_index(party)));
  for (auto& p : pending) co_await p;
  portion.store();
}

}  // namespace

Task gather_direct(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters) {
  const Layout& layout = party.layout();
  if (party.rank() == root) {
    co_await gather_at_root(party, mine, all, sizes);
    co_return;
  }
  Pending given;
  if (my_cluster(party) == layout.cluster_of(root)) {
    given = party.local_gather(mine, {}, {}, layout.index_of(root));
  } else if (!mine.empty()) {
    given = party.send(root, kTagGather, mine);
  }
  co_await given;
}

}  // namespace isthmus::coll
