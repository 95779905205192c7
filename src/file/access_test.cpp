#include "file/access.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "file/memory_storage.hpp"

namespace isthmus::file {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t of(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Blocks that grow monotonically, as filetypes have to.
  View view() {
    core::TypeMapBuilder builder;
    const core::TypeMap element = core::TypeMap::basic(1, 1);
    std::int64_t at = of(0, 5);
    for (std::int64_t k = of(1, 4); k > 0; --k) {
      const std::int64_t length = of(1, 6), count = of(1, 3), stride = length + of(0, 20);
      builder.add(element, length, at, count, stride);
      at += (count - 1) * stride + length + of(0, 6000) * of(0, 1) + of(0, 4);
    }
    const core::TypeMap map = std::move(builder).build();
    return {of(0, 30), map.resized(0, at + of(0, 5))};
  }

 private:
  std::mt19937 engine_;
};

/// The reference: byte for byte.
std::vector<std::int64_t> seen(const View& view, std::int64_t position, std::int64_t length) {
  std::vector<std::int64_t> offsets;
  core::TypeCursor cursor = view.pieces(position);
  while (length-- > 0) offsets.push_back(view.displacement + cursor.next(1).offset);
  return offsets;
}

TEST(Access, RandomViewsAreReadAndWrittenAsByteByByte) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto file = std::make_shared<MemoryBytes>();
    MemoryStorage storage(file);
    std::vector<std::byte> expected;
    for (int step = 0; step < 10; ++step) {
      const View view = random.view();
      const std::int64_t position = random.of(0, 50), length = random.of(0, 60);
      const auto offsets = seen(view, position, length);
      std::vector<std::byte> data(static_cast<std::size_t>(length));
      if (random.of(0, 1) == 0) {
        for (std::byte& b : data) b = static_cast<std::byte>(random.of(0, 255));
        write_seen(storage, view, position, data);
        for (std::size_t i = 0; i < data.size(); ++i) {
          const auto at = static_cast<std::size_t>(offsets[i]);
          if (at >= expected.size()) expected.resize(at + 1);
          expected[at] = data[i];
        }
        ASSERT_EQ(file->bytes, expected);
        continue;
      }
      std::vector<std::byte> there;
      for (const std::int64_t at : offsets) {
        if (at >= static_cast<std::int64_t>(expected.size())) break;
        there.push_back(expected[static_cast<std::size_t>(at)]);
      }
      data.resize(read_seen(storage, view, position, data));
      ASSERT_EQ(data, there);
    }
  }
}

TEST(Access, AViewKnowsItsPlaces) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const View view = random.view();
    const auto offsets = seen(view, 0, 100);
    const std::int64_t position = random.of(0, 99);
    EXPECT_EQ(view.offset_of(position), offsets[static_cast<std::size_t>(position)]);
    const std::int64_t end = random.of(0, offsets.back());
    const auto before =
        std::count_if(offsets.begin(), offsets.end(), [end](std::int64_t at) { return at < end; });
    EXPECT_EQ(view.seen_before(end), before);
  }
}

TEST(Access, ARangeHasAllOfTilesThatLieWithinEachOther) {
  core::TypeMapBuilder builder;  // of a matrix 3 wide a column, the next one a tile
  builder.add(core::TypeMap::basic(1, 1), 1, 0, 4, 3);
  const View view{7, std::move(builder).build().resized(0, 1)};
  for (std::int64_t position = 0; position < 12; ++position) {
    for (std::int64_t length = 1; position + length <= 12; ++length) {
      const auto offsets = seen(view, position, length);
      const auto [low, high] = view.range(position, length);
      EXPECT_LE(low, *std::min_element(offsets.begin(), offsets.end()));
      EXPECT_GT(high, *std::max_element(offsets.begin(), offsets.end()));
    }
  }
}

TEST(Access, AnEmptyFiletypeSeesNothing) {
  const View view{5, core::TypeMap().resized(0, 8)};
  MemoryStorage storage(std::make_shared<MemoryBytes>());
  std::vector<std::byte> data(3);
  EXPECT_EQ(read_seen(storage, view, 0, data), 0U);
  EXPECT_EQ(view.seen_before(100), 0);
  EXPECT_EQ(view.offset_of(0), 5);
}

}  // namespace
}  // namespace isthmus::file
