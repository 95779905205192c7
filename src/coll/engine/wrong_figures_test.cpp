// The cost model over many networks: the real cost of choices by wrong figures.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "coll/engine/choose.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

using Figure = double Network::*;
constexpr std::array<Figure, 6> kFigures{&Network::wan_latency,  &Network::wan_bandwidth,
                                         &Network::link_latency, &Network::link_bandwidth,
                                         &Network::message_cost, &Network::stream_cost};
constexpr std::array kFigureNames{"wan-latency", "wan-rate",     "link-latency",
                                  "link-rate",   "message-cost", "stream-cost"};

struct Place {
  std::string name;
  std::vector<std::size_t> members;
  Network network;
};

/// The testbeds of `isthmus bench coll`, as `isthmus tune` finds them.
std::vector<Place> places() {
  const auto network = [](const char* text) { return parse_network(text, {}); };
  return {
      {"matsuda", {8, 8}, network("wan-latency=10ms,wan-rate=941M,link-rate=95M")},
      {"matsuda 12 + 4", {12, 4}, network("wan-latency=10ms,wan-rate=941M,link-rate=95M")},
      {"matsuda16", {16, 16}, network("wan-latency=10ms,wan-rate=941M,link-rate=95M")},
      {"trio", {5, 5, 5}, network("wan-latency=10ms,wan-rate=941M,link-rate=95M")},
      {"hablot", {1, 1}, network("wan-latency=5.8ms,wan-rate=941M,link-rate=941M")},
      {"hablot16", {8, 8}, network("wan-latency=5.8ms,wan-rate=941M,link-rate=941M")},
      {"gateways", {8, 8}, network("wan-latency=10ms,wan-rate=941M,link-rate=95M,paths=1")},
      {"distant",
       {5, 5, 5},
       parse_network("wan-latency=10ms,wan-rate=941M,link-rate=95M,pair=a/b:500us:941M", {},
                     std::vector<std::string>{"a", "b", "c"})},
  };
}

Layout layout_with(const std::vector<std::size_t>& members) {
  std::vector<int> clusters;
  for (std::size_t c = 0; c < members.size(); ++c) {
    clusters.insert(clusters.end(), members[c], static_cast<int>(c));
  }
  return Layout(clusters);
}

/// The problems of `isthmus bench coll --quick`; bytes as Problem has them.
std::vector<Problem> problems(std::size_t ranks) {
  std::vector<Problem> found{{Kind::Barrier, 0, true}};
  for (const Kind kind : {Kind::Bcast, Kind::Allreduce}) {
    for (const std::size_t size : std::initializer_list<std::size_t>{
             8, 256 << 10, 1 << 20, 3'200'000, 8 << 20, 32'000'000}) {
      found.push_back({kind, size, true});
    }
  }
  for (const Kind kind : {Kind::Reduce, Kind::Scan, Kind::Exscan}) {
    for (const std::size_t size : std::initializer_list<std::size_t>{8, 256 << 10})
      found.push_back({kind, size, true});
  }
  for (const std::size_t block : std::initializer_list<std::size_t>{8, 64 << 10}) {
    for (const Kind kind :
         {Kind::Gather, Kind::Scatter, Kind::Allgather, Kind::Alltoall, Kind::ReduceScatter}) {
      found.push_back({kind, block * ranks, true});
    }
  }
  return found;
}

/// The network with each figure as it is, double or half, by the digits of `wrong` in base 3.
/// `said` lists the changes.
Network mistaken(const Network& network, int wrong, std::string& said) {
  Network figures = network;
  const auto mistake = [&](double& figure, const std::string& name) {
    const int digit = std::exchange(wrong, wrong / 3) % 3;
    if (digit == 0) return;
    figure *= digit == 1 ? 2 : 0.5;
    said += " " + name + (digit == 1 ? " double" : " half");
  };
  for (std::size_t i = 0; i < kFigures.size(); ++i) mistake(figures.*kFigures[i], kFigureNames[i]);
  if (network.pairs == nullptr) return figures;
  Pairs pairs = *network.pairs;
  for (Pairs::Way& way : pairs.ways) {
    mistake(way.latency, "latency of a pair");
    mistake(way.bandwidth, "rate of a pair");
  }
  figures.pairs = std::make_shared<const Pairs>(std::move(pairs));
  return figures;
}
int mistakes(const Network& network) {
  int number = 1;
  const std::size_t ways = network.pairs == nullptr ? 0 : network.pairs->ways.size();
  for (std::size_t i = 0; i < kFigures.size() + 2 * ways; ++i) number *= 3;
  return number;
}

/// How much longer the choice by `figures` takes than the best choice by the right figures.
double regret(const Layout& layout, const Network& right, const Network& figures,
              const Problem& problem) {
  const Choice best = choose({layout, right, problem}, {});
  const Choice wrong = choose({layout, figures, problem}, {});
  const Setting real{layout, right, problem};
  return estimate(*wrong.algorithm, real, {}) / estimate(*best.algorithm, real, {}) - 1;
}

// Chained and striped broadcasts of three clusters are 10.7 % apart on both sides of the point of
// equal cost: no margin mends both (2026-11). All others stay below 10 %.
double bound(const Place& place, const Problem& problem) {
  return place.members.size() == 3 && problem.kind == Kind::Bcast ? 0.11 : 0.10;
}

TEST(WrongFigures, CostLittle) {
  for (const Place& place : places()) {
    const Layout layout = layout_with(place.members);
    for (const Problem& problem : problems(static_cast<std::size_t>(layout.size()))) {
      double worst = 0;
      std::string how;
      for (int wrong = 0; wrong < mistakes(place.network); ++wrong) {
        std::string said;
        const Network figures = mistaken(place.network, wrong, said);
        const double cost = regret(layout, place.network, figures, problem);
        if (cost > worst) {
          worst = cost;
          how = said + " chose " +
                std::string(choose({layout, figures, problem}, {}).algorithm->name) + " not " +
                std::string(choose({layout, place.network, problem}, {}).algorithm->name);
        }
      }
      EXPECT_LE(worst, bound(place, problem))
          << place.name << ": " << name_of(problem.kind) << " of " << problem.bytes.value_or(0)
          << " bytes, by" << how;
    }
  }
}

}  // namespace
}  // namespace isthmus::coll
