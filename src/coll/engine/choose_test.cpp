#include "coll/engine/choose.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

std::string complaint(const char* text) {
  try {
    parse_forced(text);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Table, NamesAreUniqueAndEveryKindCanAlwaysBeSolved) {
  std::set<std::pair<Kind, std::string_view>> seen;
  std::set<Kind> solved;
  for (const Algorithm& row : algorithms()) {
    EXPECT_TRUE(seen.emplace(row.kind, row.name).second) << row.name;
    EXPECT_EQ(find_algorithm(row.kind, row.name), &row);
    const Demands& d = row.demands;
    if (!d.commutative && !d.known_bytes && !d.divisible && !d.commons) solved.insert(row.kind);
  }
  EXPECT_EQ(solved.size(), static_cast<std::size_t>(kKinds));
}

TEST(Table, EveryCostIsANumberAboveZero) {
  const std::vector<int> shape{0, 0, 0, 1, 1, 2};
  const Layout layout(shape);
  for (const Algorithm& row : algorithms()) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20}) {
      const double cost = row.cost({layout, Network{}, {row.kind, bytes, true}}, {});
      const double least = row.demands.commons ? 0 : Network{}.wan_latency;
      EXPECT_GT(cost, 0) << row.name << " " << name_of(row.kind);
      EXPECT_GE(cost, least) << row.name << " " << name_of(row.kind);
      EXPECT_LT(cost, 10) << row.name << " " << name_of(row.kind);
    }
  }
}

std::string chosen_on_one_host(Kind kind, std::size_t bytes) {
  const Layout layout(std::vector<int>{0, 0, 1, 1});
  const Network network = Network::of_one_host();
  return std::string(choose({layout, network, {kind, bytes, true}}, {}).algorithm->name);
}

// On one host all ranks' cores do a network's work, so segments gain nothing.
TEST(OneHost, VectorsAreHalvedAndNotPipelined) {
  for (std::size_t bytes = 1024; bytes <= (std::size_t{64} << 20); bytes *= 2) {
    const bool large = bytes >= (std::size_t{256} << 10);
    for (const Kind kind : {Kind::Reduce, Kind::Allreduce}) {
      const std::string name = chosen_on_one_host(kind, bytes);
      EXPECT_NE(name, "pipelined") << bytes;
      EXPECT_NE(name, "striped") << bytes;
      EXPECT_TRUE(!large || name == "rabenseifner") << name << " " << bytes;
    }
    const std::string name = chosen_on_one_host(Kind::Bcast, bytes);
    EXPECT_TRUE(name == "magpie" || name == "direct") << name << " " << bytes;
  }
  EXPECT_NE(chosen_on_one_host(Kind::Allreduce, 8192), "rabenseifner");
}

TEST(OneHost, LargeBlocksPassThroughNoLeader) {
  for (std::size_t block = 32768; block <= (std::size_t{2} << 20); block *= 2) {
    EXPECT_EQ(chosen_on_one_host(Kind::Alltoall, 4 * block), "direct") << block;
    EXPECT_NE(chosen_on_one_host(Kind::Allgather, 4 * block), "magpie") << block;
    EXPECT_NE(chosen_on_one_host(Kind::ReduceScatter, 4 * block), "magpie") << block;
  }
}

// `direct` would open a ring between each two of them.
TEST(OneHost, SmallBlocksOfManyRanksPassThroughALeader) {
  for (std::size_t members = 129; members <= 512; members += 63) {
    std::vector<int> clusters(members, 0);
    clusters.resize(2 * members, 1);
    const Layout layout(clusters);
    const Network network = Network::of_one_host();
    const Choice choice = choose(
        {layout, network, {Kind::Alltoall, 8 * static_cast<std::size_t>(layout.size()), true}}, {});
    EXPECT_EQ(choice.algorithm->name, "combined") << members;
  }
}

TEST(Forced, ReadsNamesAndParameters) {
  const Forced forced = parse_forced(" bcast=magpie , allreduce = magpie,");
  EXPECT_EQ(forced.of(Kind::Bcast).algorithm, find_algorithm(Kind::Bcast, "magpie"));
  EXPECT_EQ(forced.of(Kind::Allreduce).algorithm, find_algorithm(Kind::Allreduce, "magpie"));
  EXPECT_EQ(forced.of(Kind::Reduce).algorithm, nullptr);
  const Forced changed = parse_forced("bcast=auto", forced);
  EXPECT_EQ(changed.of(Kind::Bcast).algorithm, nullptr);
  EXPECT_NE(changed.of(Kind::Allreduce).algorithm, nullptr);
}

TEST(Forced, ComplaintsListWhatIsAllowed) {
  EXPECT_NE(complaint("broadcast=magpie").find("name one of barrier, bcast"), std::string::npos);
  EXPECT_NE(complaint("bcast").find("COLLECTIVE=ALGORITHM"), std::string::npos);
  EXPECT_NE(complaint("bcast=magic").find("auto or one of magpie"), std::string::npos);
  EXPECT_NE(complaint("bcast=magpie:segment=1K").find("heeds no parameters"), std::string::npos);
  EXPECT_NE(complaint("bcast=auto:segment=1K").find("name an algorithm"), std::string::npos);
}

TEST(Forced, ReadsSizesAndNumbers) {
  const Forced forced = parse_forced("bcast=striped:segment=16K");
  EXPECT_EQ(forced.of(Kind::Bcast).parameters.segment, 16384U);
  EXPECT_NE(complaint("bcast=striped:segment=0").find("give bytes"), std::string::npos);
  EXPECT_NE(complaint("bcast=striped:segment=9999999G").find("give bytes"), std::string::npos);
  EXPECT_NE(complaint("bcast=striped:senders=2").find("which heeds segment"), std::string::npos);
}

TEST(Choice, AnAlgorithmThatDoesNotFitGivesWay) {
  const Layout dealt(std::vector<int>{0, 1, 0, 1});
  const Forced forced = parse_forced("allreduce=pipelined:segment=8K");
  const Network network;
  const Choice fits = choose({dealt, network, {Kind::Allreduce, 1000, true}}, forced);
  EXPECT_EQ(fits.algorithm->name, "pipelined");
  EXPECT_EQ(fits.parameters.segment, 8192U);
  const Choice other = choose({dealt, network, {Kind::Allreduce, 1000, false}}, forced);
  EXPECT_NE(other.algorithm->name, "pipelined");
}

TEST(Choice, VectorsStayWholeForOperationsThatDoNotCommute) {
  const Network network = parse_network("wan-latency=10ms,wan-rate=1G,link-rate=100M", {});
  for (const std::vector<int>& shape :
       {std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 0, 1}}) {
    const Layout layout(shape);
    for (const Kind kind : {Kind::Reduce, Kind::Allreduce, Kind::Scan, Kind::Exscan}) {
      const Problem problem{kind, std::size_t{1} << 24, false};
      const Choice choice = choose({layout, network, problem}, {});
      EXPECT_FALSE(choice.algorithm->demands.divisible) << choice.algorithm->name;
    }
  }
  const Layout blocks(std::vector<int>{0, 0, 1, 1});
  const Forced forced = parse_forced("allreduce=pipelined");
  const Choice asked = choose({blocks, network, {Kind::Allreduce, 1000, false}}, forced);
  EXPECT_EQ(asked.algorithm->name, "pipelined");
}

/// Two clusters of 8 nodes of 100 Mbit/s, 1 Gbit/s and 10 ms between them.
TEST(Choice, LongAndFastNetworks) {
  std::vector<int> shape(16, 0);
  std::fill(shape.begin() + 8, shape.end(), 1);
  const Layout layout(shape);
  const Network network = parse_network("wan-latency=10ms,wan-rate=1G,link-rate=100M", {});
  const auto name = [&](Kind kind, std::size_t bytes) {
    return std::string(choose({layout, network, {kind, bytes, true}}, {}).algorithm->name);
  };
  EXPECT_EQ(name(Kind::Bcast, 8), "direct");
  EXPECT_NE(name(Kind::Allreduce, 8), "pipelined");
  for (const std::size_t bytes :
       {std::size_t{1} << 18, std::size_t{1} << 20, std::size_t{1} << 25}) {
    EXPECT_EQ(name(Kind::Bcast, bytes), "striped") << bytes;
    EXPECT_EQ(name(Kind::Reduce, bytes), "striped") << bytes;
    EXPECT_EQ(name(Kind::Allreduce, bytes), "pipelined") << bytes;
  }
}

TEST(Choice, ABroadcastToManyGoesByLeaders) {
  std::vector<int> shape(1000, 0);
  std::fill(shape.begin() + 500, shape.end(), 1);
  const Network network = parse_network("wan-latency=10ms,wan-rate=1G,link-rate=100M", {});
  const auto chosen = choose({Layout(shape), network, {Kind::Bcast, 8, true}}, {});
  EXPECT_EQ(chosen.algorithm->name, "magpie");
}

TEST(Network, ReadsTextAndComplains) {
  const Network network = parse_network(
      "wan-latency=10ms, link-rate=100M,link-latency=50us,stream-cost=3us,paths=2", {});
  EXPECT_DOUBLE_EQ(network.wan_latency, 0.01);
  EXPECT_DOUBLE_EQ(network.link_bandwidth, 12.5e6);
  EXPECT_DOUBLE_EQ(network.link_latency, 50e-6);
  EXPECT_DOUBLE_EQ(network.stream_cost, 3e-6);
  EXPECT_EQ(network.paths, 2);
  EXPECT_DOUBLE_EQ(network.wan_bandwidth, Network{}.wan_bandwidth);
  for (const char* wrong :
       {"wan-latency=10", "wan-rate=-1G", "link-rate=", "paths=x", "paths=", "speed=1G",
        "wan-rate=1GB", "wan-latency=nanms", "message-cost=infs", "stream-cost=2"}) {
    EXPECT_THROW(parse_network(wrong, {}), std::invalid_argument) << wrong;
  }
}

TEST(Choice, AmongThreeClustersOnlyTheLongestBroadcastsGoFromClusterToCluster) {
  const Layout layout(Shape{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2});
  Network network;
  network.wan_latency = 10e-3;
  network.link_bandwidth = 12e6;
  const auto name = [&](std::size_t bytes) {
    return choose({layout, network, {Kind::Bcast, bytes, true}}, {}).algorithm->name;
  };
  EXPECT_EQ(name(256 << 10), "striped");  // a quarter of it takes a link 5 ms
  EXPECT_EQ(name(4 << 20), "chained");
}

TEST(Choice, WholeMessagesGoWhereLinksAreMuchWiderThanTheNetworkBetweenClusters) {
  const Layout layout(Shape{0, 0, 0, 1, 1, 1, 2, 2, 2});
  const Network network = parse_network(  // as tune found it on the testbed `distant`
      "wan-latency=20160us,wan-rate=889M,link-latency=8us,link-rate=66822M,message-cost=7.5us,"
      "stream-cost=1.1us,pair=a/b:1063us:900M",
      {}, std::vector<std::string>{"a", "b", "c"});
  for (const int home : {0, 1, 2}) {
    for (const std::size_t bytes :
         std::initializer_list<std::size_t>{3'200'000, 8 << 20, 32'000'000}) {
      const auto chosen = choose({layout, network, {Kind::Bcast, bytes, true, home}}, {});
      EXPECT_TRUE(chosen.algorithm->name == "tree" || chosen.algorithm->name == "magpie")
          << chosen.algorithm->name << " of " << bytes << " bytes from " << home;
    }
  }
}

}  // namespace
}  // namespace isthmus::coll
