#include "mpi/rma/host_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

namespace isthmus::face {
namespace {

TEST(HostMemoryTest, IsZeroAndBeginsWithAPage) {
  const auto memory = HostMemory::make(5000);
  ASSERT_TRUE(memory);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(memory->base()[i], std::byte{0});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->base()) % sysconf(_SC_PAGESIZE), 0U);
}

TEST(HostMemoryTest, AnotherProcessWritesAndReadsIt) {
  // The last byte before a page's end has the mark right behind it.
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{100'000}}) {
    const auto memory = HostMemory::make(size);
    ASSERT_TRUE(memory);
    memory->base()[size - 1] = std::byte{7};
    const HostMemory::Address address = memory->address();
    const pid_t child = fork();
    if (child == 0) {
      const auto other = HostMemory::reach(address);
      if (!other || other->base() == memory->base()) _exit(1);
      if (other->base()[size - 1] != std::byte{7}) _exit(2);
      other->base()[size - 1] = std::byte{8};
      other->base()[0] = std::byte{8};
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(memory->base()[size - 1], std::byte{8});
    EXPECT_TRUE(HostMemory::reach(address)) << "what is written in the window is not the mark";
  }
}

TEST(HostMemoryTest, IsKnownByItsMarkAndItsSize) {
  const auto memory = HostMemory::make(5000);
  ASSERT_TRUE(memory);
  const HostMemory::Address right = memory->address();
  ASSERT_TRUE(HostMemory::reach(right));
  HostMemory::Address address = right;
  address.mark[1] ^= 1;
  EXPECT_FALSE(HostMemory::reach(address));
  address = right;
  address.size = 50'000;
  EXPECT_FALSE(HostMemory::reach(address));
  address = right;
  address.size = std::numeric_limits<std::uint64_t>::max() - 100;
  EXPECT_FALSE(HostMemory::reach(address));
  EXPECT_FALSE(HostMemory::reach({}));
}

TEST(HostMemoryTest, FilesThatAreNoSuchMemoryAreLeftAlone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_GE(other, 0);
  for (const int file : {ends[0], ends[1], other, 0, 100'000, -1}) {
    EXPECT_FALSE(HostMemory::reach({.pid = getpid(), .file = file, .size = 1}));
  }
  close(ends[0]);
  close(ends[1]);
  close(other);
}

TEST(HostMemoryTest, NobodyReachesWhatIsClosed) {
  auto memory = HostMemory::make(100);
  ASSERT_TRUE(memory);
  const HostMemory::Address address = memory->address();
  const auto before = HostMemory::reach(address);
  memory->close();
  EXPECT_FALSE(HostMemory::reach(address));
  memory->base()[3] = std::byte{1};
  ASSERT_TRUE(before);
  EXPECT_EQ(before->base()[3], std::byte{1});
}

TEST(HostMemoryTest, NoFileStaysOpenOnTheOtherSide) {
  const auto memory = HostMemory::make(100);
  ASSERT_TRUE(memory);
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  const auto other = HostMemory::reach(memory->address());
  ASSERT_TRUE(other);
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  EXPECT_EQ(before, after);
}

TEST(HostMemoryTest, MoreThanTheSystemHasIsNotGiven) {
  EXPECT_FALSE(HostMemory::make(std::numeric_limits<std::size_t>::max() / 2));
  EXPECT_FALSE(HostMemory::make(std::numeric_limits<std::size_t>::max()));
}

}  // namespace
}  // namespace isthmus::face
