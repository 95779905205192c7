// Small platforms: the collectives' results are right, and times are those of closed forms.
#include "sim/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coll/engine/buffer.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/testing/testing.hpp"
#include "sim/collective.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace isthmus::sim {
namespace {

using coll::as_index;
using coll::Kind;
using coll::Task;
using testing::HasSubstr;

constexpr std::uint64_t kMany = 1'000'000;

coll::Network slow() {
  return coll::parse_network(
      "wan-latency=10ms,wan-rate=1G,link-rate=100M,link-latency=50us,message-cost=20us,"
      "stream-cost=2us",
      {});
}

coll::Forced asked(const coll::Algorithm& algorithm) {
  return coll::parse_forced(std::string(coll::name_of(algorithm.kind)) + "=" +
                            std::string(algorithm.name));
}

struct Shaped : testing::TestWithParam<std::pair<int, int>> {
  /// Checks the results of all algorithms of a kind; `body(party, rank)` is one rank's call.
  template <class Body>
  void each(Kind kind, Body&& body) {
    const auto [clusters, ranks] = GetParam();
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
      if (algorithm.kind != kind || algorithm.demands.commons) continue;  // memory is not simulated
      SCOPED_TRACE(algorithm.name);
      Simulation simulation({Platform::blocks(clusters, ranks), slow()}, asked(algorithm), kMany);
      body(simulation, ranks);
      EXPECT_EQ(simulation.choice().algorithm->name, algorithm.name);
      if (clusters > 1) {
        EXPECT_GT(*std::ranges::max_element(simulation.ends()), slow().wan_latency);
      }
    }
  }
};

TEST_P(Shaped, BroadcastsArrive) {
  for (const std::size_t size : {8, 100'000}) {
    each(Kind::Bcast, [&](Simulation& simulation, int ranks) {
      coll::PerRank data(as_index(ranks), coll::Data(size));
      data[1] = coll::pattern(size, 1, 0);
      simulation.run(
          [&](SimulatedParty& p) { return coll::bcast(p, data[as_index(p.rank())], 1); });
      for (const coll::Data& one : data) EXPECT_EQ(one, data[1]);
    });
  }
}

TEST_P(Shaped, SumsAreRight) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{9'000}}) {
    each(Kind::Allreduce, [&](Simulation& simulation, int ranks) {
      coll::TestReduction<coll::Sum> reduction;
      std::vector<std::vector<coll::Sum>> in, out;
      for (int r = 0; r < ranks; ++r) in.push_back(coll::contribution<coll::Sum>(r, count));
      out.assign(in.size(), std::vector<coll::Sum>(count));
      simulation.run([&](SimulatedParty& p) {
        const std::size_t r = as_index(p.rank());
        return coll::allreduce(p, std::as_bytes(std::span(in[r])),
                               std::as_writable_bytes(std::span(out[r])), count, reduction);
      });
      for (const auto& one : out) EXPECT_EQ(one, coll::expected<coll::Sum>(0, ranks - 1, count));
    });
  }
}

TEST_P(Shaped, PrefixesAreRight) {
  const std::size_t count = 500;
  each(Kind::Scan, [&](Simulation& simulation, int ranks) {
    coll::TestReduction<coll::Sum> reduction;
    std::vector<std::vector<coll::Sum>> in, out;
    for (int r = 0; r < ranks; ++r) in.push_back(coll::contribution<coll::Sum>(r, count));
    out.assign(in.size(), std::vector<coll::Sum>(count));
    simulation.run([&](SimulatedParty& p) {
      const std::size_t r = as_index(p.rank());
      return coll::scan(p, std::as_bytes(std::span(in[r])),
                        std::as_writable_bytes(std::span(out[r])), count, reduction);
    });
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(out[as_index(r)], coll::expected<coll::Sum>(0, r, count));
    }
  });
}

TEST_P(Shaped, BlocksArrive) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{40'000}}) {
    each(Kind::Allgather, [&](Simulation& simulation, int ranks) {
      const coll::Sizes sizes(as_index(ranks), size);
      const coll::Data wanted = coll::concatenated(sizes, 7);
      coll::PerRank out(as_index(ranks), coll::Data(wanted.size())), in;
      for (int r = 0; r < ranks; ++r) in.push_back(coll::pattern(size, r, 7));
      simulation.run([&](SimulatedParty& p) {
        return coll::allgather(p, in[as_index(p.rank())], out[as_index(p.rank())], sizes);
      });
      for (const coll::Data& one : out) EXPECT_EQ(one, wanted);
    });
    each(Kind::Alltoall, [&](Simulation& simulation, int ranks) {
      const coll::Sizes sizes(as_index(ranks), size);
      coll::PerRank in(as_index(ranks)), out;
      for (int r = 0; r < ranks; ++r) {
        for (int to = 0; to < ranks; ++to) {
          const coll::Data block = coll::pattern(size, r, to);
          in[as_index(r)].insert(in[as_index(r)].end(), block.begin(), block.end());
        }
        out.emplace_back(in[as_index(r)].size());
      }
      simulation.run([&](SimulatedParty& p) {
        const std::size_t r = as_index(p.rank());
        return coll::alltoall(p, in[r], sizes, out[r], sizes, coll::Blocks::Even);
      });
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(out[as_index(r)], coll::concatenated(sizes, r));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, Shaped,
                         testing::Values(std::pair{2, 8}, std::pair{3, 14}, std::pair{1, 5}));

/// Seconds until the last rank of 2 x 4 has done `body`, which touches no memory.
double seconds(const coll::Network& network, const std::function<Task(SimulatedParty&)>& body) {
  Simulation simulation({Platform::blocks(2, 8), network}, {}, kMany);
  simulation.run(body);
  return *std::ranges::max_element(simulation.ends());
}

Task one_message(SimulatedParty& party, coll::Bytes data, int to) {
  if (party.rank() == 0) {
    coll::Pending sent = party.send(to, 0, data);
    co_await sent;
  }
  if (party.rank() == to) {
    coll::Pending come = party.recv(0, 0, data);
    co_await come;
  }
}

TEST(Times, OfOneMessage) {
  std::vector<std::byte> data(25'000);  // 2 ms of a link
  const double far = seconds(slow(), [&](auto& p) { return one_message(p, data, 7); });
  EXPECT_NEAR(far, 20e-6 + 2e-3 + 10e-3 + 20e-6, 1e-9);
  const double here = seconds(slow(), [&](auto& p) { return one_message(p, data, 3); });
  EXPECT_NEAR(here, 20e-6 + 2e-3 + 50e-6 + 20e-6, 1e-9);
}

/// Members of the first cluster to their counterparts, all at once.
Task side_by_side(SimulatedParty& party, coll::Bytes data) {
  const int other = (party.rank() + 4) % 8;
  coll::Pending pending;
  if (party.rank() < 4) pending = party.send(other, 0, data);
  if (party.rank() >= 4) pending = party.recv(other, 0, data);
  co_await pending;
}

TEST(Times, OfAWanThatIsShared) {
  std::vector<std::byte> data(1'250'000);  // 100 ms of a link
  coll::Network network = slow();
  const auto body = [&](auto& p) { return side_by_side(p, data); };
  EXPECT_NEAR(seconds(network, body), 0.110, 2e-3);  // 1 Gbit/s carries four of them
  network.wan_bandwidth = 25e6;                      // carries two
  EXPECT_NEAR(seconds(network, body), 0.210, 6e-3);
  network.wan_bandwidth = 125e6;
  network.paths = 1;  // one way out, of a link's rate
  EXPECT_NEAR(seconds(network, body), 0.410, 1.5e-2);
}

TEST(Times, NoCollectiveBeatsTheWires) {
  constexpr std::size_t kSize = 1'000'000;
  std::vector<std::byte> data(kSize);
  const double least = 10e-3 + kSize / 12.5e6;
  const double bcast = seconds(slow(), [&](auto& p) { return coll::bcast(p, data, 0); });
  EXPECT_GT(bcast, least);
  EXPECT_LT(bcast, 1.15 * least);  // striped
}

TEST(Phantoms, TakeTheTimeOfContents) {
  std::vector<std::byte> data(200'000);
  const double with = seconds(slow(), [&](auto& p) { return coll::bcast(p, data, 0); });
  coll::phantom = data.data();
  Simulation simulation({Platform::blocks(2, 8), slow(), false}, {}, kMany);
  simulation.run(collective(Kind::Bcast, data.size(), 8));
  coll::phantom = nullptr;
  EXPECT_DOUBLE_EQ(*std::ranges::max_element(simulation.ends()), with);
  EXPECT_EQ(simulation.wires().crossed(0, 1).bytes, data.size());
}

Task waits_for_nothing(SimulatedParty& party, coll::Bytes data) {
  if (party.rank() != 5) co_return;
  coll::Pending never = party.recv(0, 0, data);
  co_await never;
}

TEST(Faults, AreTold) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler what_a_failed_one_has_under_way;  // the program ends then
#endif
  std::vector<std::byte> data(8);
  const auto fault = [&](auto&& body) -> std::string {
    try {
      seconds(slow(), body);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(fault([&](auto& p) { return waits_for_nothing(p, data); }),
              HasSubstr("1 ranks never end, such as 5"));
  EXPECT_THAT(fault([&](SimulatedParty& p) {
                return one_message(p, coll::Bytes(data).first(p.rank() == 0 ? 8 : 4), 1);
              }),
              HasSubstr("a message of 8 bytes met a receive of 4"));
  Simulation simulation({Platform::blocks(2, 8), slow()}, {}, 3);
  EXPECT_THROW(simulation.run([](SimulatedParty& p) { return coll::barrier(p); }), TooManyMessages);
}

}  // namespace
}  // namespace isthmus::sim
