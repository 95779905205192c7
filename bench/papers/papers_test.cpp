// The papers' algorithms beside the others: algorithms_test.cpp, which this program has too, runs
// them all. Senders are never more than the network between clusters carries.
#include "papers/papers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "coll/engine/choose.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {
namespace {

const bool added = [] {
  add_algorithms(algorithms_of_papers());
  return true;
}();

TEST(Papers, AlgorithmsAreAddedBesideThoseOfTheirCollective) {
  EXPECT_TRUE(added);
  EXPECT_NE(find_algorithm(Kind::Bcast, "farfirst"), nullptr);
  const auto rows = algorithms();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &Algorithm::kind));
}

TEST(Papers, SendersAreANumber) {
  const Forced forced = parse_forced("allreduce=rabenseifner-wan:senders=3");
  EXPECT_EQ(forced.of(Kind::Allreduce).parameters.senders, 3);
  EXPECT_THROW(parse_forced("allreduce=rabenseifner-wan:senders=2K"), std::invalid_argument);
}

Layout layout_with(const std::vector<std::size_t>& members) {
  std::vector<int> clusters;
  for (std::size_t c = 0; c < members.size(); ++c) {
    clusters.insert(clusters.end(), members[c], static_cast<int>(c));
  }
  return Layout(clusters);
}

/// Any network, from tens of Mbit/s to 100 Gbit/s and from tens of microseconds to seconds.
Network any_network(std::mt19937_64& random) {
  const auto between = [&](double least, int doublings) {
    double value = least;
    for (int i = static_cast<int>(random() % static_cast<unsigned>(doublings)); i > 0; --i)
      value *= 2;
    return value * (1 + static_cast<double>(random() % 100) / 100);
  };
  Network network;
  network.wan_latency = between(20e-6, 16);
  network.wan_bandwidth = between(2e6, 12);
  network.link_latency = between(1e-6, 8);
  network.link_bandwidth = between(2e6, 12);
  network.message_cost = between(0.5e-6, 7);
  network.stream_cost = between(0.2e-6, 6);
  network.paths = static_cast<int>(random() % 4);
  Pairs pairs;
  if (random() % 2 == 0) {
    for (int a = 0; a < 3; ++a) {
      for (int b = a + 1; b < 3; ++b) {
        if (random() % 3 > 0) pairs.ways.push_back({a, b, between(20e-6, 16), between(2e6, 12)});
      }
    }
    if (random() % 2 == 0) pairs.shared.push_back({between(2e6, 12), {{0, 2}, {1, 2}}});
    network.pairs = std::make_shared<const Pairs>(std::move(pairs));
  }
  return network;
}

TEST(Senders, AreNeverMoreThanTheNetworkCarries) {
  const Forced forced = parse_forced("bcast=van-de-geijn-wan,allreduce=rabenseifner-wan");
  std::mt19937_64 random(1);
  int several = 0, fewer_than_all = 0;
  for (int i = 0; i < 20000; ++i) {
    const Network network = any_network(random);
    const std::size_t least = 1 + random() % 16;
    const Layout layout = layout_with({least + random() % 4, least, least + random() % 9});
    for (const Kind kind : {Kind::Bcast, Kind::Allreduce}) {
      const int home = kind == Kind::Bcast ? static_cast<int>(random() % 3) : -1;
      const Problem problem{kind, std::size_t{1} << random() % 26, true, home};
      const int senders = choose({layout, network, problem}, forced).parameters.senders;
      ASSERT_GE(senders, 1);
      ASSERT_LE(senders, static_cast<int>(least));
      several += senders > 1;
      fewer_than_all += senders < static_cast<int>(least);
      // All ways, and the stretches that all of them share.
      Network open = network;
      open.paths = 0;
      const Ways ways(layout, open);
      for (int a = 0; a < 3; ++a) {
        for (int b = a + 1; b < 3; ++b) {
          if (home >= 0 && a != home && b != home) continue;
          // Measurements are exact to a twentieth of a link.
          const double carried = ways.rate(a, b, 1 << 20) + 0.06 * network.link_bandwidth;
          if (senders > 1) {
            ASSERT_LE(senders * network.link_bandwidth, carried);
          }
        }
      }
    }
  }
  EXPECT_GT(several, 1000);
  EXPECT_GT(fewer_than_all, 1000);
}

}  // namespace
}  // namespace isthmus::coll
