// Reproducible reductions, on grids in memory: for the same values of ranks the same bits, wherever
// the ranks are, whichever algorithm computes them. They are those of the tree over ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "coll/engine/choose.hpp"
#include "coll/inter/inter.hpp"
#include "coll/inter/subset.hpp"
#include "coll/patterns/rank_tree.hpp"
#include "coll/testing/checks.hpp"

namespace isthmus::coll {
namespace {

/// Magnitudes from 2^-32 to 2^31, so that most orders of additions give other bits.
struct Wide {
  static constexpr bool kCommutative = true;
  double value;
  static Wide make(int rank, std::size_t i) {
    std::uint64_t bits = (static_cast<std::uint64_t>(rank) * 1009 + i + 1) * 0x9E37'79B9'7F4A'7C15U;
    bits = (bits ^ (bits >> 31)) * 0x94D0'49BB'1331'11EBU;
    const double part = static_cast<double>(bits % 2'000'001) / 1e6 - 1;
    return {std::ldexp(part, static_cast<int>(bits >> 58) - 32)};
  }
  static Wide then(Wide a, Wide b) { return {a.value + b.value}; }
  bool operator==(const Wide& other) const {
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
  }
};

/// Records the order of operations, and which operand was the left one.
struct Shown {
  static constexpr bool kCommutative = false;
  std::uint64_t hash;
  static Shown make(int rank, std::size_t i) {
    return {static_cast<std::uint64_t>(rank) * 131 + i + 7};
  }
  static Shown then(Shown a, Shown b) {
    const std::uint64_t mixed = (a.hash * 0x9E37'79B9'7F4A'7C15U) ^ (b.hash + 0x1234'5678U);
    return {mixed ^ (mixed >> 29)};
  }
  bool operator==(const Shown&) const = default;
};

/// The tree over ranks first..last-1, by its definition.
template <class T>
T tree(int first, int last, std::size_t i) {
  if (last - first == 1) return T::make(first, i);
  int left = 1;
  while (2 * left < last - first) left *= 2;
  return T::then(tree<T>(first, first + left, i), tree<T>(first + left, last, i));
}

template <class T>
std::vector<T> trees(int ranks, std::size_t count) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(tree<T>(0, ranks, i));
  return all;
}

Shape random_layout(int ranks, int clusters, std::mt19937_64& random) {
  Shape shape;
  for (int r = 0; r < ranks; ++r) {
    shape.push_back(static_cast<int>(random() % static_cast<unsigned>(clusters)));
  }
  return shape;
}

const Algorithm& ordered_row(Kind kind, bool cut) {
  return *find_algorithm(kind, cut ? "ordered-cut" : "ordered");
}

template <class T>
void check_ordered(const Shape& shape, std::uint64_t& seed, std::size_t count, bool cut) {
  SCOPED_TRACE(name_of(shape) + " count " + std::to_string(count) + (cut ? " cut" : ""));
  const int ranks = static_cast<int>(shape.size());
  const int root = static_cast<int>(seed % shape.size());
  const auto whole = trees<T>(ranks, count);
  {
    Trial<T> run(shape, ++seed, count);
    run.grid.run([&](Party& party) {
      return std::get<RunReduce>(ordered_row(Kind::Reduce, cut).run)(
          party, run.in_of(party), party.rank() == root ? run.out_of(party) : Bytes{}, count,
          run.reduction, root, {});
    });
    EXPECT_EQ(run.out[as_index(root)], whole) << "reduce to " << root;
    EXPECT_LE(run.grid.depth(), 1);
  }
  {
    Trial<T> run(shape, ++seed, count);
    run.grid.run([&](Party& party) {
      return std::get<RunToAll>(ordered_row(Kind::Allreduce, cut).run)(
          party, run.in_of(party), run.out_of(party), count, run.reduction, {});
    });
    for (const auto& got : run.out) EXPECT_EQ(got, whole) << "allreduce";
    EXPECT_LE(run.grid.depth(), 1);
  }
  {
    std::vector<std::size_t> counts(shape.size());
    for (std::size_t i = 0; i < count; ++i) ++counts[(i * i + seed) % shape.size()];
    Trial<T> run(shape, ++seed, count);
    expect_reduce_scatter(
        run, whole, counts,
        with_defaults(std::get<RunReduceScatter>(ordered_row(Kind::ReduceScatter, cut).run)));
  }
  for (const Kind kind : {Kind::Scan, Kind::Exscan}) {
    Trial<T> run(shape, ++seed, count);
    run.grid.run([&](Party& party) {
      return std::get<RunToAll>(ordered_row(kind, cut).run)(
          party, run.in_of(party), run.out_of(party), count, run.reduction, {});
    });
    for (int r = 0; r < ranks; ++r) {
      const int below = kind == Kind::Scan ? r + 1 : r;
      const auto want = below > 0 ? trees<T>(below, count) : contribution<T>(99, count);
      EXPECT_EQ(run.out[as_index(r)], want) << name_of(kind) << ", rank " << r;
    }
  }
}

TEST(Ordered, SubtreesOfClusters) {
  using Ranges = std::vector<RankRange>;
  EXPECT_EQ(cluster_subtrees(Layout(Shape{0, 0, 0, 0, 0})), (Ranges{{0, 5}}));
  EXPECT_EQ(cluster_subtrees(Layout(Shape{0, 0, 0, 0, 1, 1, 1})), (Ranges{{0, 4}, {4, 7}}));
  EXPECT_EQ(cluster_subtrees(Layout(Shape{0, 0, 0, 1, 1, 1})),
            (Ranges{{0, 2}, {2, 3}, {3, 4}, {4, 6}}));
  EXPECT_EQ(cluster_subtrees(Layout(Shape{0, 1, 0}), 0), (Ranges{{0, 1}, {2, 3}}));
}

TEST(Ordered, RandomMapsOfRanks) {
  std::mt19937_64 random(1);
  std::uint64_t seed = 1;
  const int most = kInstrumented ? 7 : 12;
  for (int ranks = 1; ranks <= most; ++ranks) {
    for (int clusters = 1; clusters <= 3; ++clusters) {
      for (int time = 0; time < 3; ++time) {
        const Shape shape = random_layout(ranks, clusters, random);
        for (const std::size_t count : {0U, 1U, 5U, 40U}) {
          check_ordered<Wide>(shape, seed, count, false);
          check_ordered<Wide>(shape, seed, count, true);
          check_ordered<Shown>(shape, seed, count, count % 2 == 0);
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Ordered, EveryRoot) {
  for (const Shape& shape : {Shape{0, 0, 0, 0, 0}, Shape{0, 1, 0, 2, 1, 0, 2}}) {
    for (std::uint64_t seed = 0; seed < 4 * shape.size(); ++seed) {
      std::uint64_t now = seed;
      check_ordered<Wide>(shape, now, 11, seed / shape.size() % 2 == 0);
    }
    if (HasFailure()) return;
  }
}

TEST(Ordered, AreChosenForReproducibleReductionsAlone) {
  const Layout layout(Shape{0, 0, 0, 0, 1, 1, 1, 1});
  const auto name = [&](std::size_t bytes, bool commutative, bool reproducible) {
    Problem problem{Kind::Allreduce, bytes, commutative};
    problem.reproducible = reproducible;
    return choose({layout, Network{}, problem}, parse_forced("allreduce=fan")).algorithm->name;
  };
  EXPECT_EQ(name(8, true, true), "ordered");
  EXPECT_EQ(name(std::size_t{8} << 20, true, true), "ordered-cut");
  EXPECT_EQ(name(std::size_t{8} << 20, false, true), "ordered");
  EXPECT_EQ(name(8, true, false), "fan");
}

using Start = std::function<Task(Party&, Trial<Wide>&)>;

/// The results of a collective as callers see it, on a party that asks for reproducible ones.
std::vector<std::vector<Wide>> results_of(const Shape& shape, std::size_t count,
                                          const Start& start) {
  Trial<Wide> run(shape, count + shape.size(), count);
  run.grid.reproducible = true;
  run.grid.run([&](Party& party) { return start(party, run); });
  return run.out;
}

/// Small and large vectors, so that both algorithms are chosen.
TEST(Ordered, CollectivesChooseThem) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {3U, 9'000U}) {
    const std::vector<Start> all{
        [&](Party& party, Trial<Wide>& run) {
          const Bytes out = party.rank() == 2 ? run.out_of(party) : Bytes{};
          return reduce(party, run.in_of(party), out, count, run.reduction, 2);
        },
        [&](Party& party, Trial<Wide>& run) {
          return allreduce(party, run.in_of(party), run.out_of(party), count, run.reduction);
        },
        [&](Party& party, Trial<Wide>& run) {
          return scan(party, run.in_of(party), run.out_of(party), count, run.reduction);
        },
        [&](Party& party, Trial<Wide>& run) {
          return exscan(party, run.in_of(party), run.out_of(party), count, run.reduction);
        }};
    for (const Start& start : all) {
      const auto one = results_of(Shape(7, 0), count, start);
      EXPECT_EQ(results_of(random_layout(7, 2, random), count, start), one);
      EXPECT_EQ(results_of(random_layout(7, 3, random), count, start), one);
    }
  }
}

TEST(Ordered, LocalPhasesMayBeMessages) {
  const Shape shape(6, 0);
  for (const std::size_t count : {1U, 30U}) {
    for (const bool cut : {false, true}) {
      Trial<Wide> run(shape, 3, count);
      std::vector<std::unique_ptr<Subset>> parties(shape.size());
      run.grid.run([&](Party& party) {
        auto& own = parties[as_index(party.rank())];
        own = std::make_unique<Subset>(party, std::vector<int>{0, 1, 2, 3, 4, 5},
                                       Subset::Lane::Messages);
        return std::get<RunToAll>(ordered_row(Kind::Allreduce, cut).run)(
            *own, run.in_of(party), run.out_of(party), count, run.reduction, {});
      });
      for (const auto& got : run.out) EXPECT_EQ(got, trees<Wide>(6, count));
    }
  }
}

/// Ranks of one host post their vectors.
TEST(Ordered, SoAreThoseOverACommons) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const std::size_t count : {3U, 900U, 70'000U}) {
      if (count > 900 && ranks != 5) continue;  // does not fit in a post
      const Shape shape(as_index(ranks), 0);
      Trial<Wide> sums(shape, count, count), prefixes(shape, count, count);
      for (auto* run : {&sums, &prefixes}) {
        run->grid.share_memory();
        run->grid.reproducible = true;
      }
      sums.grid.run([&](Party& party) {
        return allreduce(party, sums.in_of(party), sums.out_of(party), count, sums.reduction);
      });
      for (const auto& got : sums.out) EXPECT_EQ(got, trees<Wide>(ranks, count));
      prefixes.grid.run([&](Party& party) {
        return scan(party, prefixes.in_of(party), prefixes.out_of(party), count,
                    prefixes.reduction);
      });
      for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(prefixes.out[as_index(r)], trees<Wide>(r + 1, count));
      }
    }
  }
}

/// The sides of an intercommunicator are trees of their own.
TEST(Ordered, SidesOfIntercommunicators) {
  const TwoSides sides{3, 5};
  std::vector<std::vector<Wide>> first;
  for (const Shape& shape : {Shape(8, 0), Shape{0, 1, 0, 1, 1, 0, 2, 1}}) {
    Trial<Wide> run(shape, 9, 20);
    run.grid.reproducible = true;
    run.grid.run([&](Party& party) {
      return inter_allreduce(party, sides, run.in_of(party), run.out_of(party), 20, run.reduction);
    });
    EXPECT_EQ(run.out[7], trees<Wide>(3, 20));
    if (first.empty()) first = run.out;
    EXPECT_EQ(run.out, first);
  }
}

}  // namespace
}  // namespace isthmus::coll
