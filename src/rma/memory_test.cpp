#include "rma/memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace isthmus::rma {
namespace {

TEST(Memory, AFixedRegionIsReachedWithinItself) {
  std::array<std::byte, 100> bytes{};
  const Memory memory = Memory::fixed(bytes.data(), bytes.size());
  EXPECT_EQ(memory.find(0, 0, 100), bytes.data());
  EXPECT_EQ(memory.find(40, -40, 60), bytes.data() + 40);
  EXPECT_EQ(memory.find(1, 0, 100), nullptr);
  EXPECT_EQ(memory.find(0, -1, 1), nullptr);
  EXPECT_EQ(memory.find(100, 0, 1), nullptr);
  EXPECT_EQ(memory.find(std::numeric_limits<std::int64_t>::max(), 0, 8), nullptr);
  EXPECT_EQ(memory.find(std::numeric_limits<std::int64_t>::min(), 0, 8), nullptr);
  EXPECT_NE(memory.find(500, 0, 0), nullptr) << "nothing may be anywhere";
}

TEST(Memory, RegionsComeAndGo) {
  std::array<std::byte, 100> bytes{};
  Memory memory = Memory::dynamic();
  const auto at = [&](std::size_t i) { return reinterpret_cast<std::intptr_t>(bytes.data() + i); };
  EXPECT_EQ(memory.find(at(0), 0, 1), nullptr);
  EXPECT_TRUE(memory.attach(bytes.data() + 10, 20));
  EXPECT_FALSE(memory.attach(bytes.data() + 29, 5));
  EXPECT_FALSE(memory.attach(bytes.data(), 11));
  EXPECT_TRUE(memory.attach(bytes.data() + 30, 5));
  EXPECT_EQ(memory.find(at(10), 0, 20), bytes.data() + 10);
  EXPECT_EQ(memory.find(at(9), 0, 1), nullptr);
  EXPECT_EQ(memory.find(at(34), 0, 2), nullptr);
  EXPECT_FALSE(memory.detach(bytes.data() + 11));
  EXPECT_TRUE(memory.detach(bytes.data() + 10));
  EXPECT_EQ(memory.find(at(10), 0, 1), nullptr);
  EXPECT_EQ(memory.find(at(30), 0, 5), bytes.data() + 30);
}

// The order in which they were attached does not matter.
TEST(Memory, WhatIsReachedMaySpanRegionsThatTouch) {
  std::array<std::byte, 100> bytes{};
  const auto at = [&](std::size_t i) { return reinterpret_cast<std::intptr_t>(bytes.data() + i); };
  for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}}) {
    Memory memory = Memory::dynamic();
    for (const int i : order) {
      EXPECT_TRUE(memory.attach(bytes.data() + 10 + 20 * i, i == 2 ? 30 : 20));
    }
    EXPECT_EQ(memory.find(at(10), 0, 70), bytes.data() + 10);
    EXPECT_EQ(memory.find(at(29), 0, 2), bytes.data() + 29);
    EXPECT_EQ(memory.find(at(50), -40, 30), bytes.data() + 50);
    EXPECT_EQ(memory.find(at(10), 0, 71), nullptr);
    EXPECT_EQ(memory.find(at(9), 0, 30), nullptr);
    EXPECT_TRUE(memory.detach(bytes.data() + 30));
    EXPECT_EQ(memory.find(at(10), 0, 70), nullptr);
    EXPECT_EQ(memory.find(at(29), 0, 2), nullptr);
    EXPECT_EQ(memory.find(at(30), 0, 1), nullptr);
    EXPECT_EQ(memory.find(at(10), 0, 20), bytes.data() + 10);
    EXPECT_EQ(memory.find(at(50), 0, 30), bytes.data() + 50);
  }
}

TEST(Memory, NothingIsReachedBeyondRegionsOfNoBytes) {
  std::array<std::byte, 100> bytes{};
  const auto at = [&](std::size_t i) { return reinterpret_cast<std::intptr_t>(bytes.data() + i); };
  Memory memory = Memory::dynamic();
  EXPECT_TRUE(memory.attach(bytes.data() + 10, 0));
  EXPECT_TRUE(memory.attach(bytes.data() + 20, 10));
  EXPECT_EQ(memory.find(at(10), 0, 1), nullptr);
  EXPECT_EQ(memory.find(at(15), 0, 10), nullptr);
}

TEST(Memory, ARegionOfADeviceIsReachedAlone) {
  std::array<std::byte, 60> bytes{};
  Memory memory = Memory::dynamic();
  const auto at = [&](std::size_t i) { return reinterpret_cast<std::intptr_t>(bytes.data() + i); };
  EXPECT_FALSE(memory.has_device());
  EXPECT_TRUE(memory.attach(bytes.data(), 20));
  EXPECT_TRUE(memory.attach(bytes.data() + 20, 20, Reach::Device));
  EXPECT_TRUE(memory.attach(bytes.data() + 40, 20));
  EXPECT_NE(memory.find(at(20), 0, 20), nullptr);
  EXPECT_EQ(memory.find(at(10), 0, 20), nullptr) << "it ends on the device";
  EXPECT_EQ(memory.find(at(30), 0, 20), nullptr) << "it begins there";
  EXPECT_EQ(memory.device(at(0), 30), bytes.data() + 20);
  EXPECT_EQ(memory.device(at(0), 19), nullptr);
  EXPECT_EQ(memory.device(at(0), 40), nullptr);
  EXPECT_TRUE(memory.detach(bytes.data() + 20));
  EXPECT_FALSE(memory.has_device());
  EXPECT_EQ(memory.device(at(0), 30), nullptr);
}

}  // namespace
}  // namespace isthmus::rma
