// One collective on a grid in memory, checked against what MPI promises. `call` is a rank's call of
// it, without parameters of an algorithm. The caller asserts what else it knows of the grid.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "coll/engine/algorithm.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {

/// A call of an algorithm with its defaults.
template <class Algorithm>
auto with_defaults(Algorithm algorithm) {
  return [algorithm](Party& party, auto&&... arguments) {
    return algorithm(party, std::forward<decltype(arguments)>(arguments)..., Parameters{});
  };
}

template <class Call>
void expect_barrier(MemoryGrid& grid, Call&& call) {
  int arrived = 0;
  bool early = false;
  grid.run([&](Party& party) -> Task {
    ++arrived;
    co_await call(party);
    if (arrived != grid.layout().size()) early = true;
  });
  EXPECT_FALSE(early);
}

/// The block that each rank gives to a gather.
inline PerRank blocks_of(const Sizes& sizes) {
  PerRank blocks;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    blocks.push_back(pattern(sizes[r], static_cast<int>(r), 0));
  }
  return blocks;
}

/// `everywhere`: all ranks know the sizes, not the root alone.
template <class Call>
void expect_gather(MemoryGrid& grid, int root, const Sizes& sizes, bool everywhere, Call&& call) {
  const PerRank mine = blocks_of(sizes);
  const Data want = concatenated(sizes, 0);
  Data all(want.size());
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return call(party, mine[as_index(party.rank())], is_root ? Bytes(all) : Bytes{},
                is_root || everywhere ? sizes : Sizes{}, root);
  });
  EXPECT_EQ(all, want);
  EXPECT_LE(grid.depth(), 1);
}

template <class Call>
void expect_scatter(MemoryGrid& grid, int root, const Sizes& sizes, bool everywhere, Call&& call) {
  const Data all = concatenated(sizes, 0);
  PerRank mine;
  for (const std::size_t size : sizes) mine.emplace_back(size);
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return call(party, is_root ? ConstBytes(all) : ConstBytes{},
                is_root || everywhere ? sizes : Sizes{}, mine[as_index(party.rank())], root);
  });
  EXPECT_EQ(mine, blocks_of(sizes));
  EXPECT_LE(grid.depth(), 1);
}

template <class Call>
void expect_allgather(MemoryGrid& grid, const Sizes& sizes, Call&& call) {
  const PerRank mine = blocks_of(sizes);
  const Data want = concatenated(sizes, 0);
  PerRank all(sizes.size(), Data(want.size()));
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return call(party, mine[r], all[r], sizes);
  });
  for (const Data& got : all) EXPECT_EQ(got, want);
}

template <class Call>
void expect_alltoall(MemoryGrid& grid, std::size_t base, bool uneven, Call&& call) {
  const auto ranks = as_index(grid.layout().size());
  const auto size_of = [&](std::size_t from, std::size_t to) {
    return uneven ? base * ((from * 3 + to) % 4) : base;
  };
  std::vector<Sizes> out_sizes(ranks), in_sizes(ranks);
  PerRank out(ranks), in, want(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t s = 0; s < ranks; ++s) {
      out_sizes[r].push_back(size_of(r, s));
      in_sizes[r].push_back(size_of(s, r));
      const Data to = pattern(size_of(r, s), static_cast<int>(r), static_cast<int>(s));
      const Data from = pattern(size_of(s, r), static_cast<int>(s), static_cast<int>(r));
      out[r].insert(out[r].end(), to.begin(), to.end());
      want[r].insert(want[r].end(), from.begin(), from.end());
    }
    in.emplace_back(want[r].size());
  }
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return call(party, out[r], out_sizes[r], in[r], in_sizes[r]);
  });
  EXPECT_EQ(in, want);
  EXPECT_LE(grid.depth(), 1);
}

/// `whole` is the result of all ranks' vectors, and each rank's part of it has its count.
template <class T, class Call>
void expect_reduce_scatter(Trial<T>& run, const std::vector<T>& whole, const Sizes& counts,
                           Call&& call) {
  for (std::size_t r = 0; r < counts.size(); ++r) run.out[r].resize(counts[r]);
  run.grid.run([&](Party& party) {
    return call(party, run.in_of(party), run.out_of(party), counts, run.reduction);
  });
  auto begin = whole.begin();
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto end = begin + static_cast<std::ptrdiff_t>(counts[r]);
    EXPECT_EQ(run.out[r], std::vector<T>(begin, end)) << "rank " << r;
    begin = end;
  }
}

template <class T, class Call>
void expect_scan(Trial<T>& run, std::size_t count, bool exclusive, Call&& call) {
  run.grid.run([&](Party& party) {
    return call(party, run.in_of(party), run.out_of(party), count, run.reduction);
  });
  for (int r = 0; r < run.grid.layout().size(); ++r) {
    const auto want = !exclusive ? expected<T>(0, r, count)
                      : r > 0    ? expected<T>(0, r - 1, count)
                                 : contribution<T>(99, count);  // untouched
    EXPECT_EQ(run.out[as_index(r)], want) << "rank " << r;
  }
}

}  // namespace isthmus::coll
