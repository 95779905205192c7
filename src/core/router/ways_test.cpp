#include "core/router/ways.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

constexpr LinkChoice kFast = kFirstNamedLink, kThin = kFirstNamedLink + 1;

class WaysTest : public testing::Test {
 protected:
  WaysTest() {
    for (std::size_t i = 0; i < conduits_.size(); ++i) ways_.connect(i, conduits_[i]);
    ways_.set_link(kFast, 1, {0, 1});
    ways_.set_link(kThin, 1, {2});
  }

  static ConduitConfig config() {
    ConduitConfig made;
    made.self = 0;
    made.peer = kFirstGateway;
    made.session = 1;
    return made;
  }
  void fill(std::size_t gate) {
    const std::vector<std::byte> bytes(kMaxBody / 2);
    while (conduits_[gate].can_accept()) {
      OutFrame frame;
      frame.kind = FrameKind::Piece;
      frame.source = 0;
      frame.destination = 5;
      frame.payload = bytes;
      conduits_[gate].submit(frame);
    }
  }

  std::vector<Conduit> conduits_ = std::vector<Conduit>(3, Conduit(config(), Time::zero()));
  Ways ways_{3, 3};
};

TEST_F(WaysTest, AChosenLinkIsTakenWhateverWaitsThere) {
  EXPECT_EQ(ways_.to(1, 5, true, kThin), 2U);
  fill(2);
  EXPECT_EQ(ways_.to(1, 5, true, kThin), Ways::kNone);
  EXPECT_NE(ways_.to(1, 5, true), Ways::kNone);
  fill(0);
  EXPECT_EQ(ways_.to(1, 5, true, kFast), 1U) << "the other of its gateways";
}

TEST_F(WaysTest, WhereItDoesNotLeadFramesGoAsEver) {
  fill(2);
  EXPECT_EQ(ways_.to(2, 9, true, kThin), ways_.to(2, 9, true));
}

TEST_F(WaysTest, AChosenLinkMayHaveMoreHopsThanAnother) {
  ways_.set_hops(2, {1, 3, 1});
  EXPECT_EQ(ways_.to(1, 5, true, kThin), 2U);
}

TEST_F(WaysTest, ANewClusterHasHopsOfItsOwn) {
  for (std::size_t gate = 0; gate < 3; ++gate) ways_.set_hops(gate, {1, 1, 1});
  ways_.grow({2, 1, 2});
  EXPECT_EQ(ways_.reaching(3, 5), 1U);
  ways_.grow_like(3);
  EXPECT_EQ(ways_.reaching(4, 5), 1U);
}

// They do not keep frames to others back.
TEST_F(WaysTest, FramesWithoutAWayWaitUntilTheirClusterIsForgotten) {
  const auto keep = [&](NodeId to) {
    ways_.keep({.kind = FrameKind::Credit, .source = 0, .destination = to, .body = {}});
  };
  const auto to_cluster_1 = [&](NodeId to, bool) { return to < 8 ? &conduits_[0] : nullptr; };
  keep(9);
  keep(5);
  EXPECT_TRUE(ways_.send_again(0, to_cluster_1));
  EXPECT_EQ(ways_.sent_again(), 1U);
  EXPECT_TRUE(ways_.waits());
  EXPECT_FALSE(ways_.send_again(0, to_cluster_1));
  ways_.forget(8, 2);
  EXPECT_FALSE(ways_.waits());
  keep(9);
  EXPECT_FALSE(ways_.waits());
  keep(5);
  EXPECT_TRUE(ways_.waits());
}

TEST_F(WaysTest, WhenItIsLostTheOthersServe) {
  EXPECT_TRUE(ways_.lose(2, 1));
  const std::size_t other = ways_.to(1, 5, true, kThin);
  EXPECT_TRUE(other == 0 || other == 1) << other;
}

}  // namespace
}  // namespace isthmus::core
