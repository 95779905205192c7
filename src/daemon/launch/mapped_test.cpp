#include "daemon/launch/mapped.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

namespace isthmus::daemon {
namespace {

Mapped with(const std::vector<std::string>& files) {
  std::string text = "7ffe0000-7ffe1000 rw-p 00000000 00:00 0                  [stack]\n";
  for (const std::string& file : files) {
    text += "7f00-7f01 r-xp 00001000 08:01 1234    " + file + "\n";
    text += "7f01-7f02 rw-p 00002000 08:01 1234    " + file + "\n";
  }
  std::istringstream maps(text);
  return read_maps(maps);
}

TEST(Mapped, NothingOfMpi) {
  const Mapped found = with({"/bin/sh", "/lib/libc.so.6", "/lib/libmpi_cxx.so.40"});
  EXPECT_FALSE(found.joins);
  EXPECT_TRUE(found.stubs.empty());
  EXPECT_EQ(found.bare_library, "");
  EXPECT_FALSE(found.covered_library);
}

TEST(Mapped, TheMarkOfMpiInitIsReadableOnceTheRankHasJoined) {
  for (const bool joined : {false, true}) {
    std::istringstream maps(std::string("7f00-7f01 ") + (joined ? "r" : "-") +
                            "--p 00000000 00:01 12    /memfd:isthmus-joins (deleted)\n");
    const Mapped found = read_maps(maps);
    EXPECT_TRUE(found.joins);
    EXPECT_EQ(found.joined, joined);
  }
}

TEST(Mapped, ALibraryAloneIsBare) {
  EXPECT_EQ(with({"/opt/my mpi/libmpi.so.40.30.4"}).bare_library, "/opt/my mpi/libmpi.so.40.30.4");
  EXPECT_EQ(with({"/lib/libmpi.so.20"}).bare_library, "/lib/libmpi.so.20");
  EXPECT_EQ(with({"/lib/libmpich.so.12 (deleted)"}).bare_library, "/lib/libmpich.so.12");
}

TEST(Mapped, AStubCoversItsOwnKind) {
  for (const auto& [stub, library] :
       std::vector<std::pair<std::string, std::string>>{{"ompi-4.1", "libmpi.so.40.30.4"},
                                                        {"mpich-4.0", "libmpich.so.12.2.0"},
                                                        {"mpich-5.0", "libmpi.so.12"},
                                                        {"mpiabi-5.0", "libmpi_abi.so.1"}}) {
    const Mapped found = with({"/x/libisthmus-" + stub + ".so", "/lib/" + library});
    EXPECT_EQ(found.bare_library, "") << stub;
    EXPECT_TRUE(found.covered_library) << stub;
    EXPECT_FALSE(found.joins) << stub;
  }
  const Mapped other =
      with({"/x/libisthmus-ompi-4.1.so", "/lib/libmpi.so.40", "/lib/libmpich.so.12"});
  EXPECT_EQ(other.bare_library, "/lib/libmpich.so.12");
  EXPECT_TRUE(other.covered_library);
}

TEST(Mapped, AFaceIsNoStub) {
  const Mapped found = with({"/x/libisthmus-face-ompi.so", "/lib/libmpi.so.40"});
  EXPECT_FALSE(found.joins);
  EXPECT_TRUE(found.stubs.empty());
}

TEST(Mapped, WhoJoinsSaysSo) {
  EXPECT_TRUE(with({"/lib/libmpi.so.40", "/memfd:isthmus-joins (deleted)"}).joins);
}

TEST(Mapped, VariablesOfEachCopyOfALibraryAndOfNoOther) {
  std::istringstream maps(
      "7f10000-7f20000 rw-p 00001000 08:01 12     /lib/libmpich.so.12\n"
      "7f20000-7f60000 rw-p 00000000 00:00 0 \n"
      "7f60000-7f70000 rw-p 00000000 00:00 0 \n"
      "7f80000-7f90000 r--p 00000000 08:01 13     /lib/libc.so.6\n"
      "7f90000-7fa0000 rw-p 00001000 08:01 13     /lib/libc.so.6\n"
      "7fa0000-7fb0000 rw-p 00000000 00:00 0 \n"
      "8f10000-8f20000 rw-p 00001000 08:01 12     /lib/libmpich.so.12\n"
      "8f20000-8f60000 rw-p 00000000 00:00 0 \n"
      "8f80000-8f90000 r--p 00000000 08:01 13     /lib/libc.so.6\n");
  const Mapped found = read_maps(maps);
  ASSERT_EQ(found.variables.size(), 2);
  EXPECT_EQ(found.variables[0].begin, 0x7f20000);
  EXPECT_EQ(found.variables[0].end, 0x7f60000);
  EXPECT_EQ(found.variables[1].begin, 0x8f20000);
  EXPECT_EQ(found.c_libraries, 2);
}

TEST(Mapped, ALibraryHasBegunOnceItHasWrittenToMuchOfItsVariables) {
  constexpr std::size_t kSize = 1 << 20;
  auto* memory = static_cast<char*>(
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kSize, MADV_NOHUGEPAGE);
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  Mapped mapped;
  mapped.variables.push_back({begin, begin + kSize});
  EXPECT_FALSE(mpi_has_begun(getpid(), mapped));
  memory[0] = 1;
  EXPECT_FALSE(mpi_has_begun(getpid(), mapped));
  std::memset(memory, 1, kSize / 2);
  EXPECT_TRUE(mpi_has_begun(getpid(), mapped));
  munmap(memory, kSize);
}

}  // namespace
}  // namespace isthmus::daemon
