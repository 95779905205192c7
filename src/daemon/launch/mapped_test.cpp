#include "daemon/launch/mapped.hpp"

#include <gtest/gtest.h>

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
  EXPECT_FALSE(found.face);
  EXPECT_TRUE(found.stubs.empty());
  EXPECT_EQ(found.bare_library, "");
  EXPECT_FALSE(found.covered_library);
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
    EXPECT_FALSE(found.face) << stub;
  }
  const Mapped other =
      with({"/x/libisthmus-ompi-4.1.so", "/lib/libmpi.so.40", "/lib/libmpich.so.12"});
  EXPECT_EQ(other.bare_library, "/lib/libmpich.so.12");
  EXPECT_TRUE(other.covered_library);
}

TEST(Mapped, AFaceIsNoStub) {
  const Mapped found = with({"/x/libisthmus-face-ompi.so", "/lib/libmpi.so.40"});
  EXPECT_TRUE(found.face);
  EXPECT_TRUE(found.stubs.empty());
}

}  // namespace
}  // namespace isthmus::daemon
