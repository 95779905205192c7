#include "daemon/gateway/sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/parts_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SharingTest : public testing::Test {
 protected:
  SharingTest() { gateway_->router.learn_world(PartsTestbed::world(), {}); }

  asio::io_context io_;
  std::shared_ptr<PartsTestbed> gateway_ = std::make_shared<PartsTestbed>(io_);
  Peer& first_ = gateway_->add(0);
  Peer& second_ = gateway_->add(1);
  Sharing sharing_{*gateway_};
};

TEST_F(SharingTest, ALoneSenderHasAllAndGivesUpAPartToTheNext) {
  sharing_.learn(0, {1, 1});
  EXPECT_THAT(gateway_->shares(first_), ElementsAre(1));
  EXPECT_THAT(gateway_->shares(second_), IsEmpty());
  sharing_.learn(1, {1, 1});
  const auto half = testing::DoubleNear(0.485, 1e-3);
  EXPECT_THAT(gateway_->shares(first_), ElementsAre(half));
  EXPECT_THAT(gateway_->shares(second_), ElementsAre(half));
}

TEST_F(SharingTest, ARiseIsHeardAMomentAfterTheOtherHasGone) {
  sharing_.learn(0, {1, 1});
  sharing_.learn(1, {1, 1});
  gateway_->shares(first_);
  sharing_.forget(1);
  EXPECT_THAT(gateway_->shares(first_), IsEmpty());
  io_.run_one();
  EXPECT_THAT(gateway_->shares(first_), ElementsAre(1));
}

TEST_F(SharingTest, AClaimWantsALookUntilItsSenderHasCeased) {
  EXPECT_FALSE(sharing_.active());
  sharing_.learn(0, {1, 0.5});
  EXPECT_TRUE(sharing_.active());
  EXPECT_EQ(gateway_->plans, 1);
  sharing_.learn(0, {1, 0});
  EXPECT_FALSE(sharing_.active());
}

TEST_F(SharingTest, AClaimOnNoClusterIsIgnored) {
  sharing_.learn(0, {2, 1});
  EXPECT_FALSE(sharing_.active());
  EXPECT_EQ(gateway_->plans, 0);
}

TEST_F(SharingTest, TheGatewaysOwnTrafficIsOneMoreClaim) {
  Peer& link = gateway_->add(PartsTestbed::kOther);
  const auto pacer = std::make_shared<net::Pacer>(io_);
  pacer->set_rate(1e6);
  sharing_.share(link, pacer);
  pacer->sent(1 << 20);  // more than its part
  io_.run_one();
  EXPECT_TRUE(sharing_.active());
  sharing_.learn(0, {1, 1});
  EXPECT_THAT(gateway_->shares(first_), ElementsAre(testing::Lt(0.9)));
}

}  // namespace
}  // namespace isthmus::daemon
