#include "coll/patterns/stripes.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

const Shape kThreeOfThree{0, 0, 0, 1, 1, 1, 2, 2, 2};

Network near_and_far() {
  return parse_network("wan-latency=20ms,wan-rate=1G,pair=a/b:1ms:1G", {},
                       std::vector<std::string>{"a", "b", "c"});
}

/// Stripes from `root`, chained.
Stripes chained_from(const Layout& layout, const Network& network, int root) {
  constexpr std::size_t kBytes = 1 << 25;
  const Ways ways(layout, network);
  const int home = layout.cluster_of(root);
  return {layout, root, ClusterTree::of_many(ways, home, kBytes), true,
          line_of_stripes(ways, home, kBytes)};
}

TEST(Stripes, AChainCrossesWhatIsFarOnce) {
  const Layout layout(kThreeOfThree);
  const Network network = near_and_far();
  for (const int root : {0, 4, 8}) {
    const Stripes stripes = chained_from(layout, network, root);
    for (std::size_t k = 0; k < 12; ++k) {
      int far = 0;
      for (int c = 0; c < layout.clusters(); ++c) {
        if (c == layout.cluster_of(root)) continue;
        const int from = layout.cluster_of(stripes.sender(c, k));
        far += c == 2 || from == 2 ? 1 : 0;
      }
      EXPECT_EQ(far, 1) << "segment " << k << " from " << root;
    }
  }
}

TEST(Stripes, WhereWaysAreAlikeClustersAreFirstInTurns) {
  const Layout layout(kThreeOfThree);
  const Stripes stripes = chained_from(layout, Network{}, 0);
  std::set<int> first;
  for (std::size_t k = 0; k < 12; ++k) {
    for (const int c : {1, 2}) {
      if (stripes.sender(c, k) == stripes.relay(k)) first.insert(c);
    }
  }
  EXPECT_EQ(first, (std::set{1, 2}));
}

}  // namespace
}  // namespace isthmus::coll
