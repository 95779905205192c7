#include "net/full_packets.hpp"

#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

FullPackets::End stuck(core::Time up, std::uint64_t acked = 800) {
  return {up, up + 5s, acked, true};
}

TEST(FullPackets, TwoStreamsInARowThatCarryNothingShowIt) {
  FullPackets path;
  path.ended(stuck(100s));
  EXPECT_FALSE(path.fail());
  path.ended(stuck(106s));
  EXPECT_TRUE(path.fail());
}

TEST(FullPackets, StreamsThatEndTogetherCountAsOne) {
  FullPackets path;
  for (int stream = 0; stream < 8; ++stream) path.ended(stuck(100s));
  EXPECT_FALSE(path.fail());
}

TEST(FullPackets, AStreamThatCarriedSomethingShowsThatThePathIsRight) {
  FullPackets path;
  path.ended(stuck(100s));
  path.ended(stuck(106s, 1'000'000));
  path.ended(stuck(112s));
  EXPECT_FALSE(path.fail());
}

// Such as one that was idle for minutes before the network was cut.
TEST(FullPackets, AnOldStreamShowsNothing) {
  FullPackets path;
  for (core::Time up : {100s, 700s, 1300s}) {
    path.ended({up, up + 300s, 800, true});
  }
  EXPECT_FALSE(path.fail());
}

}  // namespace
}  // namespace isthmus::net
