#include "net/host/full_packets.hpp"

#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

FullPackets::Stuck stream(core::Time up, bool probing = true) { return {up, up + 5s, probing}; }

TEST(FullPackets, StreamsAreProbedOnceOneGotStuck) {
  FullPackets path;
  EXPECT_FALSE(path.doubtful());
  path.stuck(stream(100s, false));
  EXPECT_TRUE(path.doubtful());
  path.pass();
  EXPECT_FALSE(path.doubtful());
}

// However long they stood, and whatever they carried before.
TEST(FullPackets, StreamsWithoutAProbeShowNothing) {
  FullPackets path;
  for (core::Time up : {100s, 106s, 700s}) path.stuck(stream(up, false));
  EXPECT_FALSE(path.fail());
}

TEST(FullPackets, TwoProbesInARowWithoutAnswerShowIt) {
  FullPackets path;
  path.stuck(stream(100s));
  EXPECT_FALSE(path.fail());
  path.stuck(stream(106s));
  EXPECT_TRUE(path.fail());
  EXPECT_FALSE(path.doubtful());
}

// Others may stand and carry small messages meanwhile.
TEST(FullPackets, OldStreamsBetweenThemDoNotHideIt) {
  FullPackets path;
  path.stuck(stream(100s));
  path.stuck({10s, 106s, false});
  path.stuck(stream(107s));
  EXPECT_TRUE(path.fail());
}

TEST(FullPackets, StreamsThatEndTogetherCountAsOne) {
  FullPackets path;
  for (int each = 0; each < 8; ++each) path.stuck(stream(100s));
  EXPECT_FALSE(path.fail());
}

TEST(FullPackets, AnAnswerShowsThatThePathIsRight) {
  FullPackets path;
  path.stuck(stream(100s));
  path.pass();
  path.stuck(stream(106s));
  EXPECT_FALSE(path.fail());
}

// The answer came in small segments.
TEST(FullPackets, SegmentsStaySmall) {
  FullPackets path;
  path.stuck(stream(100s));
  path.stuck(stream(106s));
  path.pass();
  EXPECT_TRUE(path.fail());
}

TEST(FullPackets, AProbeFillsASegment) {
  for (const std::size_t segment : {536U, 1448U, 8948U}) {
    EXPECT_GE(FullPackets::probe(segment), 2 * segment);
  }
  EXPECT_LE(FullPackets::probe(65483), 20000U);  // of loopback, where all is whole
}

}  // namespace
}  // namespace isthmus::net
