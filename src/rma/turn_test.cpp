#include "rma/turn.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <new>

namespace isthmus::rma {
namespace {

class TurnTest : public testing::Test {
 protected:
  struct Shared {
    Turn turn;
    volatile long count = 0;
  };
  TurnTest()
      : memory(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0)),
        shared(*new (memory) Shared) {}
  ~TurnTest() override { munmap(memory, sizeof(Shared)); }
  void* memory;
  Shared& shared;
};

TEST_F(TurnTest, ProcessesChangeMemoryOneAtATime) {
  constexpr int kProcesses = 4;
  constexpr long kRounds = 50'000;
  pid_t children[kProcesses];
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    for (long i = 0; i < kRounds; ++i) {
      const std::lock_guard mine(shared.turn);
      shared.count = shared.count + 1;
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared.count, kProcesses * kRounds);
}

TEST_F(TurnTest, WhoDiesInItLeavesItToOthers) {
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      shared.turn.lock();
      _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::lock_guard mine(shared.turn);
  }
}

}  // namespace
}  // namespace isthmus::rma
