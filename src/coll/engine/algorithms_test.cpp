// Every algorithm of bcast, reduce and allreduce by name, with several parameters, on a grid in
// memory.
#include <gtest/gtest.h>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/choose.hpp"
#include "coll/testing/memory_party.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

std::vector<Parameters> parameters_for(const Algorithm& row) {
  std::vector<Parameters> all{{}};
  if (row.heeds.segment) all = {{1, 0}, {7, 0}, {64, 0}, {}};
  if (row.heeds.senders) all = {{0, 1}, {7, 1}, {0, 2}, {16, 2}, {1, 3}, {0, 3}, {}};
  return all;
}

std::string describe(const Algorithm& row, const Parameters& p) {
  return std::string(name_of(row.kind)) + "=" + std::string(row.name) +
         ":segment=" + std::to_string(p.segment) + ":senders=" + std::to_string(p.senders);
}

void check_bcast(const Algorithm& row, Parameters p, const Shape& shape, std::uint64_t seed,
                 int root, std::size_t size) {
  SCOPED_TRACE(describe(row, p) + " root " + std::to_string(root) + " size " +
               std::to_string(size));
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  if (row.demands.commons) grid.share_memory();
  std::vector<std::vector<std::byte>> data(shape.size(), std::vector<std::byte>(size));
  data[as_index(root)] = pattern(size, root, 0);
  grid.run([&](Party& party) {
    return std::get<RunBcast>(row.run)(party, data[as_index(party.rank())], root, p);
  });
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(data[i], pattern(size, root, 0)) << "rank " << i;
  if (row.name == "van-de-geijn") return;  // knows nothing of clusters
  if (row.demands.commons) {
    EXPECT_EQ(grid.crossings(), 0);
    return;
  }
  const bool alike = grid.network.pairs == nullptr;
  if (row.name != "chained" && (alike || (row.name != "tree" && row.name != "striped"))) {
    EXPECT_LE(grid.depth(), 1);
  } else if (p.segment == 0) {  // of several segments no one's delay is seen apart
    EXPECT_LE(grid.depth(), grid.layout().clusters() - 1);
  }
  if (row.name == "direct") return;  // crosses several times rather than wait
  EXPECT_EQ(grid.bytes_crossed(), size * as_index(grid.layout().clusters() - 1));
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  const auto x = std::as_bytes(std::span(a));
  const auto y = std::as_bytes(std::span(b));
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

template <class T>
void check_allreduce(const Algorithm& row, Parameters p, const Shape& shape, std::uint64_t seed,
                     std::size_t count) {
  SCOPED_TRACE(describe(row, p) + " count " + std::to_string(count));
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  if (row.demands.commons) grid.share_memory();
  TestReduction<T> reduction;
  if (!fits(row, {grid.layout(), Network{}, {row.kind, 1, T::kCommutative}, nullptr, 1})) return;
  std::vector<std::vector<T>> in, out;
  for (int r = 0; r < static_cast<int>(shape.size()); ++r) {
    in.push_back(contribution<T>(r, count));
    out.push_back(contribution<T>(99, count));
  }
  const auto given = in;
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return std::get<RunToAll>(row.run)(party, std::as_bytes(std::span(in[r])),
                                       std::as_writable_bytes(std::span(out[r])), count, reduction,
                                       p);
  });
  EXPECT_TRUE(same_bits(in[0], given[0]));
  for (const auto& got : out) EXPECT_TRUE(same_bits(got, out[0]));
  if constexpr (requires(T a) { a == a; }) {
    EXPECT_EQ(out[0], expected<T>(0, static_cast<int>(shape.size()) - 1, count));
  } else {
    const auto want = expected<T>(0, static_cast<int>(shape.size()) - 1, count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(out[0][i].value, want[i].value, 1e-4);
  }
  if (row.name == "rabenseifner") return;  // knows nothing of clusters
  if (row.demands.commons) {
    EXPECT_EQ(grid.crossings(), 0);
    return;
  }
  // In these algorithms a rank's segments may leave after others' have come.
  if (row.name == "tree") {
    EXPECT_LE(grid.depth(), 3);
  } else if (row.name != "pipelined" && row.name != "rabenseifner-wan") {
    EXPECT_LE(grid.depth(), 1);
  }
  // These cross several times rather than wait.
  if (row.name == "counterparts" || row.name == "fan" || row.demands.ordered) return;
  if (!T::kCommutative && !grid.layout().blocks()) return;
  const std::size_t clusters = as_index(grid.layout().clusters());
  if (row.name == "tree") {  // of clusters that do not follow each other, results stay apart
    if (T::kCommutative) {
      EXPECT_LE(grid.bytes_crossed(), count * sizeof(T) * clusters * (clusters - 1));
    }
    return;
  }
  EXPECT_EQ(grid.bytes_crossed(), count * sizeof(T) * clusters * (clusters - 1));
}

template <class T>
void check_reduce(const Algorithm& row, Parameters p, const Shape& shape, std::uint64_t seed,
                  int root, std::size_t count) {
  SCOPED_TRACE(describe(row, p) + " root " + std::to_string(root) + " count " +
               std::to_string(count));
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  if (row.demands.commons) grid.share_memory();
  TestReduction<T> reduction;
  if (!fits(row, {grid.layout(), Network{}, {row.kind, 1, T::kCommutative}, nullptr, 1})) return;
  std::vector<std::vector<T>> in;
  for (int r = 0; r < static_cast<int>(shape.size()); ++r) in.push_back(contribution<T>(r, count));
  auto out = contribution<T>(99, count);
  grid.run([&](Party& party) {
    const bool at_root = party.rank() == root;
    return std::get<RunReduce>(row.run)(party, std::as_bytes(std::span(in[as_index(party.rank())])),
                                        at_root ? std::as_writable_bytes(std::span(out)) : Bytes{},
                                        count, reduction, root, p);
  });
  EXPECT_EQ(out, expected<T>(0, static_cast<int>(shape.size()) - 1, count));
  if (row.demands.commons) {
    EXPECT_EQ(grid.crossings(), 0);
    return;
  }
  if (row.demands.ordered) return;  // subtrees cross one by one
  if (!T::kCommutative && !grid.layout().blocks()) return;
  const std::size_t others = as_index(grid.layout().clusters() - 1);
  // If order matters, results of clusters that do not follow each other stay apart.
  if (row.name == "tree" && !T::kCommutative) {
    EXPECT_GE(grid.bytes_crossed(), count * sizeof(T) * others);
    return;
  }
  if (row.demands.one_host) {  // memory is crossed as often as it takes
    EXPECT_LE(grid.bytes_crossed(), 2 * count * sizeof(T) * shape.size());
    return;
  }
  EXPECT_EQ(grid.bytes_crossed(), count * sizeof(T) * others);
}

/// Few shapes in which every case of an algorithm occurs.
std::vector<Shape> telling_shapes() {
  return {{0},
          {0, 1},
          {0, 0, 0, 0, 0},
          {0, 1, 1, 1},
          {0, 0, 0, 1},
          {0, 0, 0, 0, 1, 1, 1, 1},
          {0, 1, 0, 1, 0, 1, 0, 1},
          {0, 0, 0, 0, 0, 1, 1, 1},
          {0, 0, 0, 1, 1, 1, 2, 2, 2},
          {0, 0, 1, 2, 2, 2, 2, 2, 2, 2},
          {0, 1, 2, 0, 2, 1, 0, 0, 3},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}};
}

class Algorithms : public testing::TestWithParam<const Algorithm*> {
 protected:
  void check(const Shape& shape, std::uint64_t& seed, std::size_t size) {
    SCOPED_TRACE(name_of(shape));
    const Algorithm& row = *GetParam();
    for (const Parameters& p : parameters_for(row)) {
      const int root = static_cast<int>(++seed % shape.size());
      if (row.kind == Kind::Bcast) {
        check_bcast(row, p, shape, seed, root, size);
      } else if (row.kind == Kind::Reduce) {
        check_reduce<Sum>(row, p, shape, seed, root, size);
        check_reduce<Affine>(row, p, shape, seed, root, size);
      } else {
        check_allreduce<Sum>(row, p, shape, ++seed, size);
        check_allreduce<Affine>(row, p, shape, ++seed, size);
        check_allreduce<Float>(row, p, shape, ++seed, size);
      }
    }
  }
};

TEST_P(Algorithms, TellingShapesAndSizes) {
  std::uint64_t seed = 1;
  for (const Shape& shape : telling_shapes()) {
    for (const std::size_t size : {0U, 1U, 2U, 7U, 61U}) check(shape, seed, size);
    if (HasFailure()) return;
  }
}

// Vectors of several pieces of 64 KiB between any two members; the last piece is short.
TEST_P(Algorithms, LongVectors) {
  const Algorithm& row = *GetParam();
  const Shape shape{0, 0, 0, 0, 0, 1, 1, 1};
  std::uint64_t seed = 150'000;
  for (const Parameters& p : {Parameters{}, Parameters{0, 2}}) {
    if (p.senders > 0 && !row.heeds.senders) continue;
    for (const std::size_t bytes : {std::size_t{1'100'000}, std::size_t{10} * 65536}) {
      const std::size_t count = bytes / sizeof(Sum) + 1;
      if (row.kind == Kind::Bcast) {
        check_bcast(row, p, shape, ++seed, 3, bytes + 1);
      } else if (row.kind == Kind::Reduce) {
        check_reduce<Sum>(row, p, shape, ++seed, 3, count);
      } else {
        check_allreduce<Sum>(row, p, shape, ++seed, count);
      }
    }
  }
}

// Under a sanitizer one in ten: all take 40 s then (2026-11). The telling shapes have every case.
constexpr std::size_t kStride = kInstrumented ? 10 : 1;

TEST_P(Algorithms, EveryShape) {
  std::uint64_t seed = 100'000;
  const auto shapes = all_shapes(3);
  for (std::size_t i = 0; i < shapes.size(); i += kStride) {
    check(shapes[i], seed, 1 + seed % 40);
    if (HasFailure()) return;
  }
}

TEST_P(Algorithms, EveryRoot) {
  const Algorithm& row = *GetParam();
  if (row.kind == Kind::Allreduce) return;  // has no root
  std::uint64_t seed = 200'000;
  for (const Shape& shape : telling_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
      for (const Parameters& p : parameters_for(row)) {
        if (row.kind == Kind::Bcast) {
          check_bcast(row, p, shape, ++seed, root, 37);
        } else {
          check_reduce<Sum>(row, p, shape, ++seed, root, 37);
          check_reduce<Affine>(row, p, shape, ++seed, root, 37);
        }
      }
    }
    if (HasFailure()) return;
  }
}

std::vector<const Algorithm*> rows() {
  std::vector<const Algorithm*> found;
  for (const Algorithm& row : algorithms()) {
    const bool tested =
        row.kind == Kind::Bcast || row.kind == Kind::Reduce || row.kind == Kind::Allreduce;
    if (tested) found.push_back(&row);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(ByName, Algorithms, testing::ValuesIn(rows()), [](const auto& row) {
  std::string name(name_of(row.param->kind));
  for (const char c : "_" + std::string(row.param->name)) name += c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace isthmus::coll
