#include "mpi/comm/comm_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace isthmus::face {
namespace {

void* value_of(std::uintptr_t key) { return reinterpret_cast<void*>(key * 2 + 1); }

TEST(CommTable, FindsNothingWhenEmpty) {
  const CommTable table;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(0x44000001), nullptr);
}

TEST(CommTable, BehavesAsAMapUnderRandomUse) {
  CommTable table;
  std::map<std::uintptr_t, void*> model;
  std::mt19937 random(7);
  for (int step = 0; step < 100'000; ++step) {
    const std::uintptr_t key = 16 * (1 + random() % 500);
    if (model.contains(key)) {
      table.erase(key);
      model.erase(key);
    } else {
      table.insert(key, value_of(key));
      model[key] = value_of(key);
    }
    const std::uintptr_t probe = 16 * (1 + random() % 500);
    const auto expected = model.find(probe);
    ASSERT_EQ(table.find(probe), expected == model.end() ? nullptr : expected->second);
  }
}

TEST(CommTable, EraseOfAnAbsentKeyChangesNothing) {
  CommTable table;
  table.erase(32);
  table.insert(16, value_of(16));
  table.erase(32);
  EXPECT_EQ(table.find(16), value_of(16));
}

TEST(CommTable, ReadersNeverSeeAnothersValueWhileWritersChurn) {
  CommTable table;
  constexpr std::uintptr_t kKept = 16 * 1000;
  table.insert(kKept, value_of(kKept));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    std::mt19937 random(1);
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uintptr_t key = 16 * (1 + random() % 64);
      void* value = table.find(key);
      if (value && value != value_of(key)) ++wrong;
      if (table.find(kKept) != value_of(kKept)) ++wrong;
    }
  });
  std::mt19937 random(2);
  for (int round = 0; round < 50'000; ++round) {
    const std::uintptr_t key = 16 * (1 + random() % 64);
    table.insert(key, value_of(key));
    table.erase(key);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace isthmus::face
