// The root sends every rank of another cluster its block straight: each byte crosses once and
// passes through nobody's memory in between. Those that have to cross go first; the root's own
// cluster scatters natively while they are under way.
#include <deque>

#include "coll/implementations.hpp"
#include "coll/phases.hpp"

namespace isthmus::coll {
namespace {

/// Blocks on their way at a time.
constexpr std::size_t kUnderWay = 64;

Task scatter_from_root(Party& party, ConstBytes all, const Sizes& sizes, Bytes mine) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes offsets = offsets_of(sizes);
  const SourcePortion portion(layout, here, all, offsets);
  const Sizes local = sizes_in(layout, here, sizes);
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
  Pending scattered = party.local_scatter(portion.bytes(), local, mine, my_index(party));
  while (!sends.empty()) {
    co_await sends.front();
    sends.pop_front();
    fill();
  }
  co_await scattered;
}

}  // namespace

Task scatter_direct(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters) {
  const Layout& layout = party.layout();
  if (party.rank() == root) {
    co_await scatter_from_root(party, all, sizes, mine);
    co_return;
  }
  Pending taken;
  if (my_cluster(party) == layout.cluster_of(root)) {
    taken = party.local_scatter({}, {}, mine, layout.index_of(root));
  } else if (!mine.empty()) {
    taken = party.recv(root, kTagScatter, mine);
  }
  co_await taken;
}

}  // namespace isthmus::coll
