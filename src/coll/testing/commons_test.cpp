// Collectives over a commons, one after the other, with ranks running ahead of each other. Covers
// every kind, with sizes from zero to several times a post's room.
#include <gtest/gtest.h>

#include <numeric>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

ConstBytes given(const std::vector<Affine>& elements) { return std::as_bytes(std::span(elements)); }
Bytes taken(std::vector<Affine>& elements) { return std::as_writable_bytes(std::span(elements)); }

/// A rank's actions, and the number of wrong results.
struct Member {
  Party& party;
  std::mt19937_64 choice;  // the same on every rank
  int me = party.rank();
  int ranks = party.layout().size();
  bool few = false;  // bytes in all it does
  int wrong = 0;

  int any_rank() { return static_cast<int>(choice() % static_cast<unsigned>(ranks)); }
  void expect(bool good) { wrong += good ? 0 : 1; }
  /// Mostly few; seldom more than posts of all ranks together have room for.
  std::size_t any_size() {
    const std::size_t room = party.commons()->capacity();
    const auto kind = few ? 2 : choice() % 16;
    return choice() % (kind == 0 ? 3 * room : kind == 1 ? room + 1 : 5000);
  }
  /// The sizes of one rank's blocks: some are empty, and a few do not fit in a post.
  Sizes any_sizes() {
    Sizes sizes(static_cast<std::size_t>(ranks));
    const std::size_t room = party.commons()->capacity();
    for (auto& size : sizes) {
      const auto kind = choice() % 16;
      size = kind == 0 ? 0 : kind == 1 ? room + 1 : choice() % 60;
    }
    return sizes;
  }
};

Task move_data(Member& m, unsigned kind) {
  const int root = m.any_rank();
  const auto me = as_index(m.me);
  if (kind == 0) {
    const std::size_t size = m.any_size();
    Data data = m.me == root ? pattern(size, root, 0) : Data(size);
    co_await bcast(m.party, data, root);
    m.expect(data == pattern(size, root, 0));
  } else if (kind == 1) {
    const Sizes sizes = m.any_sizes();
    const Data mine = pattern(sizes[me], m.me, 0);
    Data all(m.me == root ? concatenated(sizes, 0).size() : 0);
    Sizes known;
    if (m.me == root) known = sizes;
    co_await gather(m.party, mine, all, known, root);
    if (m.me == root) m.expect(all == concatenated(sizes, 0));
  } else if (kind == 2) {
    const Sizes sizes = m.any_sizes();
    Data mine(sizes[me]), all;
    Sizes known;
    if (m.me == root) all = concatenated(sizes, 0);
    if (m.me == root) known = sizes;
    co_await scatter(m.party, all, known, mine, root);
    m.expect(mine == pattern(sizes[me], m.me, 0));
  } else if (kind == 3) {
    Sizes sizes = m.any_sizes();
    if (m.few) {
      for (auto& size : sizes) size %= 61;
    }
    Data all(concatenated(sizes, 0).size());
    const Data mine = pattern(sizes[me], m.me, 0);
    co_await allgather(m.party, mine, all, sizes);
    m.expect(all == concatenated(sizes, 0));
  } else if (kind == 5) {
    const std::size_t each = m.any_size() / as_index(m.ranks);
    Data sent, want;
    for (int r = 0; r < m.ranks; ++r) {
      const Data there = pattern(each, m.me, r), here = pattern(each, r, m.me);
      sent.insert(sent.end(), there.begin(), there.end());
      want.insert(want.end(), here.begin(), here.end());
    }
    Data got(want.size());
    const Sizes sizes(as_index(m.ranks), each);
    co_await alltoall(m.party, sent, sizes, got, sizes, Blocks::Even);
    m.expect(got == want);
  } else {
    Sizes to(as_index(m.ranks)), from(as_index(m.ranks));
    Data sent, want;
    for (int r = 0; r < m.ranks; ++r) {
      const Sizes sizes = m.any_sizes();  // from rank r to each
      from[as_index(r)] = sizes[me];
      const Data block = pattern(sizes[me], r, m.me);
      want.insert(want.end(), block.begin(), block.end());
      if (r == m.me) to = sizes;
    }
    for (int r = 0; r < m.ranks; ++r) {
      const Data block = pattern(to[as_index(r)], m.me, r);
      sent.insert(sent.end(), block.begin(), block.end());
    }
    Data got(want.size());
    co_await alltoall(m.party, sent, to, got, from);
    m.expect(got == want);
  }
}

Task combine_data(Member& m, unsigned kind) {
  const int root = m.any_rank();
  const std::size_t most = m.party.commons()->capacity() / sizeof(Affine) / as_index(m.ranks);
  const std::size_t count = !m.few && m.choice() % 32 == 0 ? most : m.choice() % 20;
  TestReduction<Affine> reduction;
  const auto mine = contribution<Affine>(m.me, count);
  auto result = contribution<Affine>(99, count);
  int last = m.ranks - 1;
  if (kind == 0) {
    co_await reduce(m.party, given(mine), m.me == root ? taken(result) : Bytes{}, count, reduction,
                    root);
    last = m.me == root ? last : -1;
  } else if (kind == 1) {
    co_await allreduce(m.party, given(mine), taken(result), count, reduction);
  } else if (kind == 2) {
    co_await scan(m.party, given(mine), taken(result), count, reduction);
    last = m.me;
  } else {
    co_await exscan(m.party, given(mine), taken(result), count, reduction);
    last = m.me - 1;
  }
  m.expect(result ==
           (last < 0 ? contribution<Affine>(99, count) : expected<Affine>(0, last, count)));
}

/// Sums by parts, if that is quicker, or in pieces, and of vectors that are scattered to all ranks.
Task combine_sums(Member& m) {
  TestReduction<Sum> reduction;
  const std::size_t count = m.any_size() / sizeof(Sum) + m.choice() % 9;
  const int root = m.any_rank();
  const auto mine = contribution<Sum>(m.me, count);
  auto result = contribution<Sum>(99, count);
  const ConstBytes in = std::as_bytes(std::span(mine));
  co_await allreduce(m.party, in, std::as_writable_bytes(std::span(result)), count, reduction);
  m.expect(result == expected<Sum>(0, m.ranks - 1, count));
  std::vector<Sum> at_root(m.me == root ? count : 0);
  co_await reduce(m.party, in, std::as_writable_bytes(std::span(at_root)), count, reduction, root);
  m.expect(m.me != root || at_root == result);
  std::vector<std::size_t> counts(as_index(m.ranks), 0);
  for (std::size_t left = count; left > 0; --left) ++counts[as_index(m.any_rank())];
  std::vector<Sum> part(counts[as_index(m.me)]);
  co_await reduce_scatter(m.party, in, std::as_writable_bytes(std::span(part)), counts, reduction);
  const std::size_t first = std::accumulate(counts.begin(), counts.begin() + m.me, std::size_t{0});
  m.expect(
      std::equal(part.begin(), part.end(), result.begin() + static_cast<std::ptrdiff_t>(first)));
}

Task in_a_row(Party& party, std::uint64_t seed, int& wrong) {
  Member m{party, std::mt19937_64(seed)};
  const bool mostly_bcast = seed % 2 == 0;  // ranks then run far ahead
  for (int i = 0; i < 40; ++i) {
    const auto kind = static_cast<unsigned>(m.choice() % (mostly_bcast ? 34 : 12));
    if (kind < 6) {
      co_await move_data(m, kind);
    } else if (kind < 10) {
      co_await combine_data(m, kind - 6);
    } else if (kind == 10) {
      co_await combine_sums(m);
    } else if (kind > 11) {
      co_await move_data(m, 0);
    } else {
      co_await barrier(party);
    }
  }
  wrong += m.wrong;
}

TEST(CommonsAlgorithms, RandomCollectivesInARow) {
  const std::vector<Shape> shapes{{0, 1}, {0, 0, 1, 1, 1}, {0, 1, 0, 1}, {0, 1, 2, 0, 2, 1, 0, 0}};
  for (std::uint64_t seed = 1; seed <= (kInstrumented ? 10 : 30); ++seed) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(name_of(shape) + " seed " + std::to_string(seed));
      MemoryGrid grid(shape, seed);
      grid.share_memory();
      int wrong = 0;
      grid.run([&](Party& party) { return in_a_row(party, seed, wrong); });
      EXPECT_EQ(wrong, 0);
      if (HasFailure()) return;
    }
  }
}

TEST(CommonsAlgorithms, AreChosenForFewBytes) {
  const Shape shape{0, 0, 1, 1};
  MemoryGrid grid(shape, 7);
  grid.share_memory();
  int wrong = 0;
  grid.run([&](Party& party) -> Task {
    Member m{party, std::mt19937_64(1)};
    m.few = true;
    for (int i = 0; i < 3; ++i) {
      co_await barrier(party);
      for (unsigned kind = 0; kind < 4; ++kind) co_await combine_data(m, kind);
      co_await move_data(m, 3);
    }
    wrong += m.wrong;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(grid.crossings(), 0);
}

}  // namespace
}  // namespace isthmus::coll
