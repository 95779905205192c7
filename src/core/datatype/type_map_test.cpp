#include "core/datatype/type_map.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "core/wire/wire.hpp"

namespace isthmus::core {
namespace {

/// The reference: every byte's offset, in order.
struct Plain {
  std::vector<std::int64_t> bytes;
  std::int64_t extent = 0;

  void add(const Plain& element, std::int64_t block, std::int64_t displacement) {
    for (std::int64_t k = 0; k < block; ++k) {
      for (const std::int64_t b : element.bytes) {
        bytes.push_back(displacement + k * element.extent + b);
      }
    }
  }
};

struct Both {
  Plain plain;
  TypeMap map;
};

std::vector<std::int64_t> offsets(const TypeMap& map, std::int64_t count, std::int64_t position = 0,
                                  std::int64_t most = 1 << 20) {
  std::vector<std::int64_t> found;
  TypeCursor cursor(map, count, position);
  for (;;) {
    const Piece piece = cursor.next(most);
    if (piece.length == 0) break;
    for (std::int64_t k = 0; k < piece.length; ++k) found.push_back(piece.offset + k);
  }
  return found;
}

std::vector<std::int64_t> offsets(const Plain& plain, std::int64_t count) {
  Plain row;
  row.add(plain, count, 0);
  return row.bytes;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t of(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }

  Both type(int depth) {
    if (depth == 0) {
      const std::int64_t size = std::int64_t{1} << of(0, 3);
      Both both{{{}, size}, TypeMap::basic(size, size, static_cast<int>(size))};
      both.plain.bytes.resize(static_cast<std::size_t>(size));
      std::iota(both.plain.bytes.begin(), both.plain.bytes.end(), 0);
      return both;
    }
    Both made;
    switch (of(0, 3)) {
      case 0: {  // a vector
        const Both element = type(depth - 1);
        const std::int64_t count = of(0, 4), block = of(0, 3), stride = of(-20, 40);
        for (std::int64_t k = 0; k < count; ++k) made.plain.add(element.plain, block, k * stride);
        TypeMapBuilder builder;
        builder.add(element.map, block, 0, count, stride);
        made.map = std::move(builder).build();
        break;
      }
      case 1: {  // blocks of one type, maybe in a row
        const Both element = type(depth - 1);
        TypeMapBuilder builder;
        auto elements = builder.element(element.map);
        std::int64_t at = of(-10, 10);
        for (std::int64_t k = of(0, 5); k > 0; --k) {
          const std::int64_t block = of(0, 2);
          made.plain.add(element.plain, block, at);
          builder.add(elements, block, at);
          at += of(0, 1) == 0 ? block * element.plain.extent : of(-20, 20);
        }
        made.map = std::move(builder).build();
        break;
      }
      case 2: {  // a structure
        TypeMapBuilder builder;
        std::vector<Both> elements;
        for (std::int64_t k = of(1, 3); k > 0; --k) elements.push_back(type(depth - 1));
        for (const Both& element : elements) {
          const std::int64_t block = of(0, 2), at = of(-20, 20);
          made.plain.add(element.plain, block, at);
          builder.add(element.map, block, at);
        }
        made.map = std::move(builder).build();
        break;
      }
      default:
        made = type(depth - 1);
    }
    made.plain.extent = of(-30, 60);
    made.map = made.map.resized(0, made.plain.extent);
    return made;
  }

 private:
  std::mt19937 engine_;
};

TEST(TypeMap, RandomTypesAreAsTheReferenceSays) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Both both = random.type(static_cast<int>(random.of(0, 4)));
    const std::int64_t count = random.of(0, 4);
    const auto expected = offsets(both.plain, count);
    ASSERT_EQ(both.map.size(), static_cast<std::int64_t>(both.plain.bytes.size()));
    ASSERT_EQ(offsets(both.map, count), expected);
    if (!expected.empty()) {
      const auto bounds = both.map.bounds(count);
      ASSERT_TRUE(bounds);
      ASSERT_EQ(bounds->low, *std::min_element(expected.begin(), expected.end()));
      ASSERT_EQ(bounds->high, *std::max_element(expected.begin(), expected.end()) + 1);
      const std::int64_t from = random.of(0, static_cast<std::int64_t>(expected.size()));
      const std::vector<std::int64_t> rest(expected.begin() + from, expected.end());
      ASSERT_EQ(offsets(both.map, count, from, random.of(1, 5)), rest);
      bool run = true;
      for (std::size_t i = 1; i < expected.size(); ++i) run &= expected[i] == expected[i - 1] + 1;
      if (both.map.run_of(count)) {
        ASSERT_TRUE(run);
      }
    }
    std::vector<std::byte> wire;
    both.map.encode(wire);
    const auto decoded = TypeMap::decode(wire);
    ASSERT_TRUE(decoded);
    ASSERT_EQ(*decoded, both.map);
  }
}

TEST(TypeMap, PacksAndUnpacks) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Both both = random.type(3);
    const auto places = offsets(both.plain, 2);
    std::vector<std::byte> memory(4000), copy(4000), packed(places.size());
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
    TypeCursor from(both.map, 2), to(both.map, 2);
    ASSERT_EQ(pack(from, memory.data() + 2000, packed), packed.size());
    for (std::size_t i = 0; i < packed.size(); ++i) {
      ASSERT_EQ(packed[i], memory[static_cast<std::size_t>(2000 + places[i])]);
    }
    ASSERT_EQ(unpack(to, copy.data() + 2000, packed), packed.size());
    for (const std::int64_t place : places) {
      ASSERT_EQ(copy[static_cast<std::size_t>(2000 + place)],
                memory[static_cast<std::size_t>(2000 + place)]);
    }
  }
}

TEST(TypeMap, AVectorOfAMillionBlocksIsSmall) {
  TypeMapBuilder vector, indexed, dense;
  const TypeMap map = TypeMap::basic(8, 8, 8);
  vector.add(map, 3, 0, 1'000'000, 100);
  auto once = indexed.element(map), again = dense.element(map);
  for (int k = 0; k < 1'000'000; ++k) indexed.add(once, 3, k * 100);
  for (int k = 0; k < 1'000'000; ++k) dense.add(again, 2, k * 16);
  for (TypeMapBuilder* builder : {&vector, &indexed, &dense}) {
    std::vector<std::byte> wire;
    std::move(*builder).build().encode(wire);
    EXPECT_LT(wire.size(), 100U);
  }
}

TEST(TypeMap, PiecesTellTheirElements) {
  TypeMapBuilder builder;
  builder.add(TypeMap::basic(4, 4, 4), 1, 0);
  builder.add(TypeMap::basic(16, 16, 8), 1, 4);
  const TypeMap map = std::move(builder).build();
  TypeCursor cursor(map, 1);
  EXPECT_EQ(cursor.next(100).element, 4);
  EXPECT_EQ(cursor.next(100).element, 8);
}

TEST(TypeMap, ArraysAreDealtOutWhole) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const TypeMap element = TypeMap::basic(2, 2, 2);
    std::vector<Distribution> dimensions;
    std::int64_t processes = 1, bytes = 2;
    for (std::int64_t d = random.of(1, 3); d > 0; --d) {
      Distribution how{.kind = static_cast<Distribution::Kind>(random.of(0, 2)),
                       .size = random.of(1, 9)};
      if (how.kind != Distribution::Kind::None) how.processes = random.of(1, 3);
      if (how.kind == Distribution::Kind::Cyclic) how.argument = random.of(0, 3);
      processes *= how.processes;
      bytes *= how.size;
      dimensions.push_back(how);
    }
    const bool c_order = random.of(0, 1) == 0;
    std::vector<int> touched(static_cast<std::size_t>(bytes));
    for (std::int64_t rank = 0; rank < processes; ++rank) {
      const TypeMap part = darray_map(element, dimensions, rank, c_order);
      EXPECT_EQ(part.extent(), bytes);
      for (const std::int64_t b : offsets(part, 1)) ++touched.at(static_cast<std::size_t>(b));
    }
    EXPECT_EQ(touched, std::vector<int>(static_cast<std::size_t>(bytes), 1));
  }
}

TEST(TypeMap, ASubarrayIsItsBlock) {
  const TypeMap element = TypeMap::basic(1, 1);
  const std::int64_t sizes[] = {3, 4}, subsizes[] = {2, 2}, starts[] = {1, 1};
  EXPECT_EQ(offsets(subarray_map(element, sizes, subsizes, starts, true), 1),
            (std::vector<std::int64_t>{5, 6, 9, 10}));
  EXPECT_EQ(offsets(subarray_map(element, sizes, subsizes, starts, false), 1),
            (std::vector<std::int64_t>{4, 5, 7, 8}));
}

TEST(TypeMap, WhatOverflowsIsRefused) {
  TypeMap map = TypeMap::basic(8, std::int64_t{1} << 40, 8);
  EXPECT_THROW(
      {
        for (int k = 0; k < 10; ++k) {
          TypeMapBuilder builder;
          builder.add(map, 1 << 20, 0);
          map = std::move(builder).build();
        }
      },
      std::length_error);
  EXPECT_FALSE(TypeMap::basic(8, std::int64_t{1} << 60, 8).bounds(100));
}

TEST(TypeMap, RefusesWhatIsOutOfReach) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const TypeMap one = TypeMap::basic(4, 4, 4);
  for (const std::int64_t far : {kFarthest, kMost / 2 + 1, kMost, -kMost - 1, -kFarthest - 1}) {
    SCOPED_TRACE(far);
    EXPECT_THROW(
        {
          TypeMapBuilder builder;
          builder.add(one, 1, far);
          builder.add(one, 1, -far / 2);
          std::move(builder).build();
        },
        std::length_error);
    EXPECT_THROW(
        {
          TypeMapBuilder builder;
          builder.add(one, 1, 0, 2, far);
          std::move(builder).build();
        },
        std::length_error);
    if (far == kFarthest) continue;
    EXPECT_THROW(one.resized(0, far), std::length_error);
  }
}

/// A map as it travels, whose numbers are the peer's.
class Wire {
 public:
  explicit Wire(std::uint32_t nodes) : to_(bytes_) {
    to_.u64(0);
    to_.u64(8);
    to_.u32(nodes);
  }
  Wire& run(std::int64_t size) {
    to_.u8(0);
    to_.u8(1);
    to_.u64(static_cast<std::uint64_t>(size));
    return *this;
  }
  Wire& repeat(std::uint32_t child, std::int64_t count, std::int64_t stride) {
    to_.u8(1);
    to_.u32(child);
    to_.u64(static_cast<std::uint64_t>(count));
    to_.u64(static_cast<std::uint64_t>(stride));
    return *this;
  }
  Wire& list(std::uint32_t child, std::int64_t displacement) {
    to_.u8(2);
    to_.u32(1);
    to_.u32(child);
    to_.u64(static_cast<std::uint64_t>(displacement));
    return *this;
  }
  std::optional<TypeMap> decode() const { return TypeMap::decode(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  Writer to_;
};

TEST(TypeMap, DecodingRefusesSumsOutOfReach) {
  EXPECT_TRUE(Wire(2).run(8).list(0, 8).decode());
  for (const std::int64_t size : {kFarthest, 2 * kFarthest}) {
    for (const std::int64_t place : {kFarthest, 2 * kFarthest}) {
      EXPECT_FALSE(Wire(2).run(size).list(0, place).decode());
      EXPECT_FALSE(Wire(2).run(size).repeat(0, 2, place).decode());
    }
  }
  EXPECT_FALSE(Wire(3).run(8).list(0, -kFarthest).list(1, -kFarthest).decode());
}

TEST(TypeMap, DecodingTrustsNothing) {
  std::mt19937 random(7);
  int accepted = 0;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    Random types(seed % 50);
    std::vector<std::byte> wire;
    types.type(3).map.encode(wire);
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      wire[random() % wire.size()] = static_cast<std::byte>(random() % 3 == 0 ? 0xFF : random());
    }
    if (random() % 4 == 0) wire.resize(random() % wire.size());
    const auto map = TypeMap::decode(wire);
    if (!map) continue;
    ++accepted;
    TypeCursor cursor(*map, 3, static_cast<std::int64_t>(random() % 50));
    std::int64_t before = cursor.position();
    for (int k = 0; k < 50 && !cursor.done(); ++k) {
      const Piece piece = cursor.next(9);
      ASSERT_GT(piece.length, 0);
      if (map->extent() >= 0) {
        ASSERT_GE(piece.offset, map->true_lower());
      }
      ASSERT_GT(cursor.position(), before);
      before = cursor.position();
    }
  }
  EXPECT_GT(accepted, 100);
}

TypeMap blocks(std::initializer_list<std::pair<std::int64_t, std::int64_t>> lengths_and_places) {
  TypeMapBuilder builder;
  for (const auto& [length, at] : lengths_and_places)
    builder.add(TypeMap::basic(4, 4, 4), length, at);
  return std::move(builder).build();
}

TEST(TypeMap, TellsWhetherDisplacementsGrow) {
  EXPECT_TRUE(TypeMap().grows());
  EXPECT_TRUE(blocks({{1, 0}, {3, 8}}).grows());
  EXPECT_FALSE(blocks({{1, 8}, {1, 0}}).grows());
  EXPECT_TRUE(blocks({{1, 4}, {1, 4}}).grows());   // the same element twice
  EXPECT_FALSE(blocks({{2, 4}, {2, 4}}).grows());  // its first one after its last
  TypeMapBuilder up, down, within;
  up.add(blocks({{1, 0}, {1, 8}}), 1, 0, 5, 12);
  down.add(blocks({{1, 0}}), 1, 100, 5, -12);
  within.add(blocks({{1, 0}, {1, 8}}), 1, 0, 5, 4);
  EXPECT_TRUE(std::move(up).build().grows());
  EXPECT_FALSE(std::move(down).build().grows());
  EXPECT_FALSE(std::move(within).build().grows());
}

}  // namespace
}  // namespace isthmus::core
