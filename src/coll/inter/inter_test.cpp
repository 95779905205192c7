// The collectives of intercommunicators on a grid in memory: every shape, cut into sides
// everywhere.
#include "coll/inter/inter.hpp"

#include <gtest/gtest.h>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

/// Calls check(shape, sides) for every shape of at least two ranks and every cut.
template <class Check>
void for_each_cut(Check&& check) {
  for (const Shape& shape : all_shapes(2)) {
    const int size = static_cast<int>(shape.size());
    for (int first = 1; first < size; ++first) {
      SCOPED_TRACE(name_of(shape) + " cut at " + std::to_string(first));
      check(shape, TwoSides{first, size - first});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// The root that a rank passes: kNoPart on the root's side.
int root_for(const TwoSides& sides, int rank, int root) {
  return rank != root && sides.side_of(rank) == sides.side_of(root) ? kNoPart : root;
}

/// The blocks of a side for `to`, one after the other.
Data blocks_of(const TwoSides& sides, int side, const Sizes& sizes, int to) {
  Data all;
  for (int i = 0; i < sides.size_of(side); ++i) {
    const int rank = sides.begin_of(side) + i;
    const Data block = pattern(sizes[as_index(rank)], rank, to);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

Sizes part_of(const TwoSides& sides, int side, const Sizes& sizes) {
  const auto begin = sizes.begin() + sides.begin_of(side);
  return {begin, begin + sides.size_of(side)};
}

TEST(Inter, BcastReachesTheOtherSideAlone) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{9}, std::size_t{70'000}}) {
        MemoryGrid grid(shape, 1 + size + as_index(root));
        PerRank data(shape.size(), Data(size));
        data[as_index(root)] = pattern(size, root, 0);
        grid.run([&](Party& party) {
          return inter_bcast(party, sides, data[as_index(party.rank())],
                             root_for(sides, party.rank(), root));
        });
        for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
          const bool gets = sides.side_of(r) != sides.side_of(root) || r == root;
          EXPECT_EQ(data[as_index(r)], gets ? pattern(size, root, 0) : Data(size)) << "rank " << r;
        }
      }
    }
  });
}

TEST(Inter, GatherAndScatterAreOfTheOtherSide) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    for (const bool uneven : {false, true}) {
      for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
        const int side = 1 - sides.side_of(root);
        const Sizes sizes = sizes_for(shape.size(), 700, uneven);
        const Sizes theirs = part_of(sides, side, sizes);
        const Data want = blocks_of(sides, side, sizes, 3);
        Data all(want.size());
        PerRank mine;
        for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
          const bool gives = sides.side_of(r) == side;
          mine.push_back(gives ? pattern(sizes[as_index(r)], r, 3) : Data());
        }
        MemoryGrid grid(shape, 5 + as_index(root));
        PerRank got;
        for (const Data& block : mine) got.emplace_back(block.size());
        const auto both = [&](Party& party) -> Task {
          const auto r = as_index(party.rank());
          const bool is_root = party.rank() == root;
          const bool knows = is_root || !uneven;
          const int given = root_for(sides, party.rank(), root);
          Task gathered = inter_gather(party, sides, mine[r], is_root ? Bytes(all) : Bytes(),
                                       knows ? theirs : Sizes(), given);
          co_await gathered;
          Task scattered = inter_scatter(party, sides, is_root ? ConstBytes(want) : ConstBytes(),
                                         knows ? theirs : Sizes(), got[r], given);
          co_await scattered;
        };
        grid.run(both);
        EXPECT_EQ(all, want);
        EXPECT_EQ(got, mine);
      }
    }
  });
}

TEST(Inter, AllgatherGivesEachSideTheOther) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    for (const bool uneven : {false, true}) {
      for (const std::size_t base : {std::size_t{5}, std::size_t{20'000}}) {
        const Sizes sizes = sizes_for(shape.size(), base, uneven);
        MemoryGrid grid(shape, 11 + base);
        PerRank mine, all, want;
        for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
          mine.push_back(pattern(sizes[as_index(r)], r, 0));
          want.push_back(blocks_of(sides, 1 - sides.side_of(r), sizes, 0));
          all.emplace_back(want.back().size());
        }
        grid.run([&](Party& party) {
          const auto r = as_index(party.rank());
          return inter_allgather(party, sides, mine[r], all[r],
                                 part_of(sides, 1 - sides.side_of(party.rank()), sizes));
        });
        EXPECT_EQ(all, want);
      }
    }
  });
}

TEST(Inter, AlltoallExchangesBetweenTheSides) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    const auto size_of = [](int from, int to) { return as_index((from * 3 + to * 5) % 4) * 40; };
    MemoryGrid grid(shape, 17);
    PerRank out, in, want;
    std::vector<Sizes> out_sizes(shape.size()), in_sizes(shape.size());
    for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
      Data given, come;
      const int other = 1 - sides.side_of(r);
      for (int i = 0; i < sides.size_of(other); ++i) {
        const int peer = sides.begin_of(other) + i;
        const Data to = pattern(size_of(r, peer), r, peer);
        const Data from = pattern(size_of(peer, r), peer, r);
        given.insert(given.end(), to.begin(), to.end());
        come.insert(come.end(), from.begin(), from.end());
        out_sizes[as_index(r)].push_back(to.size());
        in_sizes[as_index(r)].push_back(from.size());
      }
      out.push_back(given);
      want.push_back(come);
      in.emplace_back(come.size());
    }
    grid.run([&](Party& party) {
      const auto r = as_index(party.rank());
      return inter_alltoall(party, sides, out[r], out_sizes[r], in[r], in_sizes[r]);
    });
    EXPECT_EQ(in, want);
  });
}

template <class T>
void check_reductions(const Shape& shape, TwoSides sides, std::size_t count) {
  const int size = static_cast<int>(shape.size());
  const auto of_side = [&](int side) {
    return expected<T>(sides.begin_of(side), sides.begin_of(side) + sides.size_of(side) - 1, count);
  };
  Trial<T> all(shape, 23 + count, count);
  all.grid.run([&](Party& party) {
    return inter_allreduce(party, sides, all.in_of(party), all.out_of(party), count, all.reduction);
  });
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(all.out[as_index(r)], of_side(1 - sides.side_of(r))) << "rank " << r;
  }
  for (int root = 0; root < size; ++root) {
    Trial<T> one(shape, 29 + count, count);
    one.grid.run([&](Party& party) {
      return inter_reduce(party, sides, one.in_of(party), one.out_of(party), count, one.reduction,
                          root_for(sides, party.rank(), root));
    });
    for (int r = 0; r < size; ++r) {
      EXPECT_EQ(one.out[as_index(r)],
                r == root ? of_side(1 - sides.side_of(root)) : contribution<T>(99, count))
          << "rank " << r << ", root " << root;
    }
  }
}

TEST(Inter, ReductionsAreOfTheOtherSideInItsOrder) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{5000}}) {
      check_reductions<Sum>(shape, sides, count);
      check_reductions<Affine>(shape, sides, count);
    }
  });
}

TEST(Inter, ReduceScatterCutsTheOtherSidesResult) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    // Both sides' counts add up to the product of their sizes times three.
    const auto count = as_index(3 * sides.first * sides.second);
    Trial<Affine> trial(shape, 31, count);
    std::vector<std::vector<Affine>> out(shape.size());
    const auto counts_of = [&](int side) {
      std::vector<std::size_t> counts(as_index(sides.size_of(side)),
                                      as_index(3 * sides.size_of(1 - side)));
      if (counts.size() > 1) {  // uneven
        counts[0] -= 2;
        counts[1] += 2;
      }
      return counts;
    };
    for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
      const int side = sides.side_of(r);
      out[as_index(r)].resize(counts_of(side)[as_index(r - sides.begin_of(side))]);
    }
    trial.grid.run([&](Party& party) {
      const Bytes mine = std::as_writable_bytes(std::span(out[as_index(party.rank())]));
      return inter_reduce_scatter(party, sides, trial.in_of(party), mine,
                                  counts_of(sides.side_of(party.rank())), trial.reduction);
    });
    for (int side = 0; side < 2; ++side) {
      const int other = 1 - side;
      const auto want = expected<Affine>(sides.begin_of(other),
                                         sides.begin_of(other) + sides.size_of(other) - 1, count);
      std::vector<Affine> got;
      for (int i = 0; i < sides.size_of(side); ++i) {
        const auto& part = out[as_index(sides.begin_of(side) + i)];
        got.insert(got.end(), part.begin(), part.end());
      }
      EXPECT_EQ(got, want);
    }
  });
}

TEST(Inter, CollectivesFollowEachOther) {
  for_each_cut([](const Shape& shape, TwoSides sides) {
    const std::size_t count = 4;
    Trial<Sum> trial(shape, 37, count);
    PerRank data(shape.size(), Data(8)), all;
    for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
      all.emplace_back(8 * as_index(sides.size_of(1 - sides.side_of(r))));
    }
    const int root = static_cast<int>(shape.size()) - 1;
    data[as_index(root)] = pattern(8, root, 0);
    trial.grid.run([&](Party& party) -> Task {
      const auto r = as_index(party.rank());
      for (int round = 0; round < 3; ++round) {
        co_await inter_bcast(party, sides, data[r], root_for(sides, party.rank(), root));
        co_await inter_allgather(
            party, sides, data[r], all[r],
            Sizes(as_index(sides.size_of(1 - sides.side_of(party.rank()))), 8));
        co_await inter_allreduce(party, sides, trial.in_of(party), trial.out_of(party), count,
                                 trial.reduction);
      }
    });
    for (int i = 0; i < sides.size_of(0); ++i) {
      const Data block(all[as_index(root)].begin() + 8 * i,
                       all[as_index(root)].begin() + 8 * i + 8);
      EXPECT_EQ(block, pattern(8, root, 0));
    }
    EXPECT_EQ(Data(all[0].end() - 8, all[0].end()), pattern(8, root, 0));
  });
}

}  // namespace
}  // namespace isthmus::coll
