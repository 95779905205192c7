#include "rma/exposed.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus::rma {
namespace {

class Exposed : public testing::Test {
 protected:
  std::optional<Spot> find(const Area& area, const Element* element = nullptr) const {
    return find_exposed(window, maps, area, element);
  }
  std::vector<std::byte> bytes = std::vector<std::byte>(64);
  Memory window = Memory::fixed(bytes.data(), bytes.size());
  std::vector<core::TypeMap> maps;
};

TEST_F(Exposed, AnAreaLiesInTheWindowOrNowhere) {
  EXPECT_EQ(find({.displacement = 8, .size = 56})->memory, bytes.data() + 8);
  EXPECT_EQ(find({.displacement = 8, .size = 57})->memory, nullptr);
  EXPECT_EQ(find({.displacement = -1, .size = 8})->memory, nullptr);
}

TEST_F(Exposed, WrongRecordsHaveNoPlace) {
  const Element number = plain(Number::I64);
  EXPECT_TRUE(find({.displacement = 0, .size = 8}, &number));
  EXPECT_FALSE(find({.displacement = 0, .size = 7}, &number));
  EXPECT_FALSE(find({.displacement = 0, .size = ~std::uint64_t{0}}));
  EXPECT_FALSE(find({.displacement = 0, .map = 1, .size = 8, .count = 1}));
}

}  // namespace
}  // namespace isthmus::rma
