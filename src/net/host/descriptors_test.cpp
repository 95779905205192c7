#include "net/host/descriptors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace isthmus::net {
namespace {

int value_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int value = 0;
    if (word == key && status >> value) return value;
  }
  return -1;
}

TEST(Descriptors, TheTableHasRoomAndNoneStaysOpen) {
  const int before = ::dup(0);
  ::close(before);
  reserve_descriptors(512);
  EXPECT_GE(value_of("FDSize:"), 512);
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

TEST(Descriptors, MoreThanMayBeOpenIsNoError) { reserve_descriptors(1 << 30); }

}  // namespace
}  // namespace isthmus::net
