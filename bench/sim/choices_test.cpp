// The choice, beside the other possible ones, in simulated time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coll/engine/buffer.hpp"
#include "coll/testing/testing.hpp"
#include "sim/collective.hpp"
#include "sim/simulation.hpp"

namespace isthmus::sim {
namespace {

constexpr std::uint64_t kMostMessages = 10'000'000;

struct Case {
  int clusters, ranks;
  const char *network, *name;
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return info.param.name + std::to_string(info.param.ranks) + "In" +
         std::to_string(info.param.clusters);
}

/// Runs without contents: only sizes count here.
double ends_after(const Case& one, std::size_t size, const coll::Forced& forced,
                  std::string& name) {
  const coll::Network network = coll::parse_network(one.network, {});
  Simulation simulation({Platform::blocks(one.clusters, one.ranks), network, false}, forced,
                        kMostMessages);
  simulation.run(collective(coll::Kind::Allreduce, size, one.ranks));
  name = simulation.choice().algorithm->name;
  return *std::ranges::max_element(simulation.ends());
}

struct Choices : testing::TestWithParam<Case> {};

TEST_P(Choices, OfAllreduceTakeAtMostATenthMoreThanTheBest) {
  const Case& one = GetParam();
  std::vector<std::byte> data(std::size_t{1} << 20);
  coll::phantom = data.data();
  for (const std::size_t size : {16384, 65536, 262144, 1 << 20}) {
    std::string chosen, best;
    const double taken = ends_after(one, size, {}, chosen);
    double least = taken;
    for (const char* other : {"magpie", "pipelined"}) {
      std::string name;
      const auto forced = coll::parse_forced(std::string("allreduce=") + other);
      const double time = ends_after(one, size, forced, name);
      if (time < least) best = name;
      least = std::min(least, time);
    }
    EXPECT_LE(taken, 1.1 * least) << size << " B by " << chosen << ", not " << best;
  }
  coll::phantom = nullptr;
}

constexpr const char* kFast =
    "wan-latency=5ms,wan-rate=10G,link-rate=10G,link-latency=5us,message-cost=5us,stream-cost=1us";

INSTANTIATE_TEST_SUITE_P(Platforms, Choices,
                         testing::Values(Case{2, 16, kFast, "Fast"}, Case{2, 128, kFast, "Fast"},
                                         Case{10, 128, kFast, "Fast"},
                                         Case{2, 16, "", "Unmeasured"},
                                         Case{2, 128, "", "Unmeasured"},
                                         Case{10, 128, "", "Unmeasured"}),
                         name_of_case);

}  // namespace
}  // namespace isthmus::sim
