#include "net/host/short_slice.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace isthmus::net {
namespace {

// The slice of the calling thread in ns; 0: the kernel has none. It stands in the answer of
// sched_getattr(2) from the 24th byte on.
std::uint64_t slice() {
  std::array<std::uint64_t, 6> attributes{};
  EXPECT_EQ(::syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0), 0);
  return attributes[3];
}

constexpr std::uint64_t kShort = 100'000;

// Tests run in new threads: another test may have shortened the slice of the first one.
class ShortSliceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (usual() == 0) GTEST_SKIP() << "this kernel has no slices of threads (Linux 6.12)";
    ASSERT_GT(usual(), kShort);
  }
  static std::uint64_t usual() {
    std::uint64_t found = 0;
    std::thread([&] { found = slice(); }).join();
    return found;
  }
};

TEST_F(ShortSliceTest, IsOfTheCallingThreadAlone) {
  const std::uint64_t before = slice();
  std::thread([] {
    shorten_slice(Children::Same);
    EXPECT_EQ(slice(), kShort);
  }).join();
  EXPECT_EQ(slice(), before);
}

TEST_F(ShortSliceTest, ChildrenHaveTheSameOrTheUsualOne) {
  for (const Children children : {Children::Same, Children::Usual}) {
    std::thread([children, usual = usual()] {
      shorten_slice(children);
      std::thread([&] { EXPECT_EQ(slice(), children == Children::Same ? kShort : usual); }).join();
      EXPECT_EQ(slice(), kShort);
    }).join();
  }
}

TEST_F(ShortSliceTest, NicenessStays) {
  std::thread([] {
    const auto self = static_cast<id_t>(::gettid());
    ASSERT_EQ(::setpriority(PRIO_PROCESS, self, 5), 0);
    shorten_slice(Children::Same);
    EXPECT_EQ(slice(), kShort);
    EXPECT_EQ(::getpriority(PRIO_PROCESS, self), 5);
  }).join();
}

// The launcher of a run that root starts with `nice -n -5` keeps that.
TEST_F(ShortSliceTest, ChildrenKeepANegativeNiceness) {
  std::thread([] {
    const auto self = static_cast<id_t>(::gettid());
    if (::setpriority(PRIO_PROCESS, self, -5) != 0) GTEST_SKIP() << "only root can do this";
    shorten_slice(Children::Usual);
    std::thread([] {
      EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), -5);
    }).join();
  }).join();
}

TEST_F(ShortSliceTest, AThreadOfAnotherPolicyKeepsItsOwn) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    const std::uint64_t before = slice();
    shorten_slice(Children::Same);
    EXPECT_EQ(slice(), before);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace isthmus::net
