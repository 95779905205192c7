#include "net/shm/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>

namespace isthmus::net {
namespace {

class SharedMemoryTest : public testing::Test {
 protected:
  SharedMemoryTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_), 0); }
  ~SharedMemoryTest() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int ends_[2];
};

TEST_F(SharedMemoryTest, WhatIsGivenOverASocketIsTheSameMemory) {
  EXPECT_FALSE(receive_descriptor(ends_[1]).has_value());
  const SharedMemory mine = SharedMemory::make(8192);
  send_descriptor(ends_[0], mine.file());
  auto file = receive_descriptor(ends_[1]);
  ASSERT_TRUE(file.has_value());
  const SharedMemory theirs = SharedMemory::take(std::move(*file), 4096, 8192);
  ASSERT_EQ(theirs.bytes().size(), 8192U);
  mine.bytes()[8191] = std::byte{7};
  EXPECT_EQ(theirs.bytes()[8191], std::byte{7});
  EXPECT_NE(::ftruncate(theirs.file().number(), 0), 0);
}

TEST_F(SharedMemoryTest, AByteAloneBringsNoDescriptor) {
  ASSERT_EQ(::write(ends_[0], "x", 1), 1);
  const auto file = receive_descriptor(ends_[1]);
  ASSERT_TRUE(file.has_value());
  EXPECT_LT(file->number(), 0);
}

TEST_F(SharedMemoryTest, AnEndThatHasClosedIsAnError) {
  ::shutdown(ends_[0], SHUT_WR);
  EXPECT_THROW(receive_descriptor(ends_[1]), std::system_error);
}

TEST_F(SharedMemoryTest, MemoryThatCouldVanishIsNotTaken) {
  Descriptor file(::memfd_create("test", MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.number(), 8192), 0);
  EXPECT_THROW(SharedMemory::take(std::move(file), 4096, 8192), std::runtime_error);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const Descriptor other(pipe_ends[1]);
  EXPECT_THROW(SharedMemory::take(Descriptor(pipe_ends[0]), 0, 8192), std::runtime_error);
}

TEST_F(SharedMemoryTest, MemoryOfAnotherSizeIsNotTaken) {
  for (const auto& [least, most] : {std::pair{1, 4095}, {4097, 8192}}) {
    const SharedMemory made = SharedMemory::make(4096);
    Descriptor copy(::dup(made.file().number()));
    EXPECT_THROW(SharedMemory::take(std::move(copy), static_cast<std::size_t>(least),
                                    static_cast<std::size_t>(most)),
                 std::runtime_error);
  }
}

TEST_F(SharedMemoryTest, MoreThanAFileMayHaveIsRefusedWithoutASignal) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  EXPECT_THROW(SharedMemory::make(8192), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

}  // namespace
}  // namespace isthmus::net
