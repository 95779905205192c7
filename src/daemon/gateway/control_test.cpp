#include "daemon/gateway/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/parts_testbed.hpp"

namespace isthmus::daemon {
namespace {

namespace said = net::control;
using testing::ElementsAre;
using testing::IsEmpty;

class ControlTest : public testing::Test {
 protected:
  explicit ControlTest(bool survives = false)
      : gateway_(std::make_shared<PartsTestbed>(io_, survives)) {
    gateway_->router.learn_world(PartsTestbed::world(), {});
  }

  void take(Peer& from, const net::ControlBody& body) {
    const auto bytes = net::encode_control(body);
    core::InFrame frame;
    frame.kind = core::FrameKind::Control;
    frame.body = bytes;
    control_.take(from, frame);
  }

  asio::io_context io_;
  std::shared_ptr<PartsTestbed> gateway_;
  Peer& first_ = gateway_->add(0);
  Peer& second_ = gateway_->add(1);
  Peer& other_ = gateway_->add(PartsTestbed::kOther);
  Peer& relay_ = gateway_->add(PartsTestbed::kRelay);
  Presence presence_;
  Readiness readiness_;
  Sharing sharing_{*gateway_};
  Tuning tuning_{*gateway_, sharing_};
  Processes processes_{*gateway_, sharing_, presence_};
  Control control_{*gateway_, processes_, sharing_, tuning_, readiness_, presence_};
};

class ControlOfSurvivors : public ControlTest {
 protected:
  ControlOfSurvivors() : ControlTest(true) {}
};

TEST_F(ControlTest, AGatewaysProcessesAreToldToAllNeighboursButTheOneThatSaysSo) {
  const net::ControlBody news = said::Joined{PartsTestbed::kOther, 0};
  take(relay_, news);
  EXPECT_THAT(gateway_->told(relay_), IsEmpty());
  EXPECT_THAT(gateway_->told(other_), IsEmpty());  // they are its own
  take(other_, said::Joined{PartsTestbed::kOther + 9, 0});
  EXPECT_EQ(gateway_->told(relay_).size(), 1U);
  take(relay_, said::Joined{PartsTestbed::kOther + 9, 0});  // known
  EXPECT_THAT(gateway_->told(other_), IsEmpty());
}

TEST_F(ControlTest, ProcessesBeginWhenAllHaveJoinedHereAndElsewhere) {
  take(first_, said::Joined{0});
  take(first_, said::Joined{0});
  take(second_, said::Joined{0});  // for another
  EXPECT_FALSE(processes_.all_joined(0));
  take(second_, said::Joined{1});
  EXPECT_TRUE(processes_.all_joined(0));
  EXPECT_THAT(gateway_->told(other_),
              ElementsAre(net::ControlBody(said::Joined{PartsTestbed::kSelf, 0})));
  EXPECT_THAT(gateway_->sent(first_), IsEmpty());
  take(other_, said::Joined{PartsTestbed::kOther, 0});
  const auto sent = gateway_->sent(first_);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].kind, core::FrameKind::Ready);
}

TEST_F(ControlTest, AProcessThatJoinsLaterLearnsHowTheWorldHasGrown) {
  const core::Growth growth{2, 1, {.name = "spawned", .size = 1, .part = 1}};
  take(first_, said::Joined{0});
  gateway_->router.grow(growth);
  processes_.grow(growth);
  const net::ControlBody grown = said::Grown{core::growth_to_json(growth)};
  EXPECT_THAT(gateway_->told(first_), ElementsAre(grown));
  gateway_->told(second_);
  take(second_, said::Joined{1});
  EXPECT_THAT(gateway_->told(second_), ElementsAre(grown));
}

TEST_F(ControlTest, ProcessesLearnOfAClusterThatHasFailedAlsoThoseThatJoinLater) {
  take(first_, said::Joined{0});
  ASSERT_TRUE(gateway_->router.forget(1));
  processes_.forget(1, "it broke");
  const net::ControlBody failed = said::Failed{1, "it broke"};
  EXPECT_THAT(gateway_->told(first_), ElementsAre(failed));
  gateway_->told(second_);
  take(second_, said::Joined{1});
  EXPECT_THAT(gateway_->told(second_), ElementsAre(failed));
}

TEST_F(ControlTest, AFailedClusterDoesNotEndTheOthers) {
  ASSERT_TRUE(gateway_->router.forget(1));
  take(other_, said::Fault{1, "its end"});
  EXPECT_FALSE(gateway_->faulted);
}

TEST_F(ControlOfSurvivors, AProcessThatCannotGoOnMakesItsClusterSuspectOnce) {
  gateway_->router.open();
  take(first_, said::Fault{1, "rank 0 has no gateway"});
  take(second_, said::Fault{1, "rank 1 has no gateway"});
  EXPECT_FALSE(gateway_->faulted);
  EXPECT_THAT(gateway_->told_suspicions, ElementsAre(std::pair(0, "rank 0 has no gateway")));
}

TEST_F(ControlOfSurvivors, BeforeAllHaveJoinedThatIsAFaultOfAll) {
  take(first_, said::Fault{1, "rank 0 has no gateway"});
  EXPECT_TRUE(gateway_->faulted);
}

TEST_F(ControlTest, AFaultGoesToAllButItsSenderOnce) {
  const net::ControlBody fault = said::Fault{7, "it broke"};
  take(other_, fault);
  take(relay_, fault);
  EXPECT_EQ(gateway_->told_fault, 7);
  EXPECT_EQ(gateway_->failure, "it broke");
  EXPECT_THAT(gateway_->told(other_), IsEmpty());
  for (Peer* peer : {&first_, &second_, &relay_}) {
    EXPECT_THAT(gateway_->told(*peer), ElementsAre(fault));
  }
}

TEST_F(ControlTest, GatewaysMayNotSayWhatOnlyProcessesMay) {
  take(other_, said::Here{"{}"});
  EXPECT_EQ(gateway_->told_here, "");
  take(first_, said::Here{"{}"});
  EXPECT_EQ(gateway_->told_here, "{}");
}

TEST_F(ControlTest, AGatewayIsAbandonedWhenAllProcessesGoOnWithoutIt) {
  for (const int rank : {0, 1}) take(relay_, said::Joined{core::NodeId(rank), 0});
  take(first_, said::Without{1, PartsTestbed::kSelf});
  EXPECT_FALSE(gateway_->told_abandoned);
  EXPECT_TRUE(second_.driver->closed());
  take(relay_, said::Without{0, PartsTestbed::kSelf});
  EXPECT_TRUE(gateway_->told_abandoned);
}

TEST_F(ControlTest, NewsOfAnotherGatewayThatIsDoneWithoutIsPassedOn) {
  const net::ControlBody news = said::Without{0, PartsTestbed::kOther};
  take(first_, news);
  EXPECT_THAT(gateway_->told(other_), ElementsAre(news));
  EXPECT_THAT(gateway_->told(first_), IsEmpty());
  EXPECT_FALSE(first_.driver->closed());
}

TEST_F(ControlTest, WithoutALauncherItIsOverWhenNoProcessIsLeftAnywhere) {
  for (Peer* process : {&first_, &second_}) take(*process, said::Joined{process->node, 0});
  take(relay_, said::Done{PartsTestbed::kOther});
  EXPECT_THAT(gateway_->told(other_),
              testing::Contains(net::ControlBody(said::Done{PartsTestbed::kOther})));
  presence_.leave(0);
  presence_.leave(0);
  control_.check_done();
  EXPECT_EQ(gateway_->told_all_done, 0);  // the launcher will say
  control_.go_on_alone();
  control_.check_done();
  control_.check_done();
  EXPECT_EQ(gateway_->told_all_done, 1);
  EXPECT_THAT(gateway_->told(relay_),
              testing::Contains(net::ControlBody(said::Done{PartsTestbed::kSelf})));
}

TEST_F(ControlTest, ItIsNotOverWhileAProcessIsHere) {
  for (Peer* process : {&first_, &second_}) take(*process, said::Joined{process->node, 0});
  take(relay_, said::Done{PartsTestbed::kOther});
  presence_.leave(0);
  control_.go_on_alone();
  control_.check_done();
  EXPECT_EQ(gateway_->told_all_done, 0);
}

TEST_F(ControlTest, ItIsOverWhenAllOtherGatewaysHaveLeft) {
  for (Peer* process : {&first_, &second_}) take(*process, said::Joined{process->node, 0});
  control_.go_on_alone();
  gateway_->router.left(*other_.neighbour);
  gateway_->router.left(*relay_.neighbour);
  control_.check_done();
  EXPECT_EQ(gateway_->told_all_done, 0);  // processes are here
  for (int i = 0; i < 2; ++i) presence_.leave(0);
  control_.check_done();
  EXPECT_EQ(gateway_->told_all_done, 1);
}

TEST_F(ControlTest, AGatewayThatProcessesDoWithoutIsNotDoneBeforeTheyHaveEnded) {
  const auto done = testing::Contains(net::ControlBody(said::Done{PartsTestbed::kSelf}));
  for (Peer* process : {&first_, &second_}) take(*process, said::Joined{process->node, 0});
  control_.go_on_alone();
  for (const int rank : {0, 1}) take(relay_, said::Without{rank, PartsTestbed::kSelf});
  control_.check_done();
  EXPECT_THAT(gateway_->told(relay_), testing::Not(done));
  processes_.have_ended(0);
  control_.check_done();
  EXPECT_THAT(gateway_->told(relay_), done);
}

TEST_F(ControlTest, WithoutALauncherAllGatewaysLearnWhichRunHasParted) {
  const net::ControlBody news = said::Parted{"run", "it ended"};
  control_.part({"run", "it ended"});
  EXPECT_THAT(gateway_->told(first_), ElementsAre(news));
  EXPECT_THAT(gateway_->told(relay_), IsEmpty());  // the launcher will say it
  control_.go_on_alone();
  control_.part({"run", "it ended"});
  EXPECT_THAT(gateway_->told(relay_), ElementsAre(news));
}

TEST_F(ControlTest, ARunThatHasPartedIsPassedOnOnce) {
  const net::ControlBody news = said::Parted{"run", "it ended"};
  take(relay_, news);
  take(other_, news);
  EXPECT_THAT(gateway_->told(first_), ElementsAre(news));
  EXPECT_THAT(gateway_->told(other_), ElementsAre(news));
  EXPECT_THAT(gateway_->told(relay_), IsEmpty());
}

TEST_F(ControlTest, AProcessCannotSayThatAGatewayIsDone) {
  take(first_, said::Done{PartsTestbed::kOther});
  EXPECT_TRUE(readiness_.learn_done(PartsTestbed::kOther));
}

TEST_F(ControlTest, WhatCannotBeReadIsIgnored) {
  const std::vector<std::byte> nonsense(5, std::byte{'{'});
  core::InFrame frame;
  frame.kind = core::FrameKind::Control;
  frame.body = nonsense;
  control_.take(other_, frame);
  EXPECT_FALSE(gateway_->faulted);
}

}  // namespace
}  // namespace isthmus::daemon
