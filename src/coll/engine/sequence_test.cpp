// Collectives one after the other on one communicator, ranks running ahead of each other:
// messages of successive collectives must not mix.
#include <gtest/gtest.h>

#include "coll/testing/memory_party.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

using Elements = std::vector<Affine>;

ConstBytes in(const Elements& elements) { return std::as_bytes(std::span(elements)); }
Bytes out(Elements& elements) { return std::as_writable_bytes(std::span(elements)); }

Task one(Party& party, int kind, int root, int& wrong) {
  constexpr std::size_t kCount = 3;
  const int me = party.rank();
  const int size = party.layout().size();
  const auto ranks = static_cast<std::size_t>(size);
  TestReduction<Affine> reduction;
  const Elements mine = contribution<Affine>(me, kCount);
  Elements result = contribution<Affine>(99, kCount);
  const Sizes sizes(ranks, kCount * sizeof(Affine));
  Sizes root_sizes;
  if (me == root) root_sizes = sizes;
  Elements all(ranks * kCount), want = result;
  const Bytes root_all = me == root ? out(all) : Bytes{};
  const Bytes root_result = me == root ? out(result) : Bytes{};
  if (kind == 0) {
    result = me == root ? mine : result;
    co_await bcast(party, out(result), root);
    want = contribution<Affine>(root, kCount);
  } else if (kind == 1) {
    co_await reduce(party, in(mine), root_result, kCount, reduction, root);
    if (me == root) want = expected<Affine>(0, size - 1, kCount);
  } else if (kind == 2) {
    co_await allreduce(party, in(mine), out(result), kCount, reduction);
    want = expected<Affine>(0, size - 1, kCount);
  } else if (kind == 3) {
    co_await scan(party, in(mine), out(result), kCount, reduction);
    want = expected<Affine>(0, me, kCount);
  } else if (kind == 4) {
    co_await exscan(party, in(mine), out(result), kCount, reduction);
    if (me > 0) want = expected<Affine>(0, me - 1, kCount);
  } else if (kind == 5) {
    co_await gather(party, in(mine), root_all, root_sizes, root);
    if (me == root && !(all[ranks * kCount - 1] == Affine::make(size - 1, kCount - 1))) ++wrong;
  } else if (kind == 6) {
    co_await allgather(party, in(mine), out(all), sizes);
    if (!(all[ranks * kCount - 1] == Affine::make(size - 1, kCount - 1))) ++wrong;
  } else {
    co_await barrier(party);
  }
  if (result != want) ++wrong;
}

TEST(Sequence, RandomCollectivesInARow) {
  const std::vector<Shape> shapes{{0, 1}, {0, 0, 1, 1, 1}, {0, 1, 0, 1}, {0, 1, 2, 0, 2, 1, 0, 0}};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(name_of(shape) + " seed " + std::to_string(seed));
      MemoryGrid grid(shape, seed);
      int wrong = 0;
      grid.run([&](Party& party) -> Task {
        std::mt19937_64 choice(seed);  // the same on every rank
        for (int i = 0; i < 12; ++i) {
          const int kind = static_cast<int>(choice() % 8);
          const int root = static_cast<int>(choice() % shape.size());
          co_await one(party, kind, root, wrong);
        }
      });
      EXPECT_EQ(wrong, 0);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace isthmus::coll
