#include "rma/gate.hpp"

#include <gtest/gtest.h>

#include "rma/limits.hpp"

namespace isthmus::rma {
namespace {

TEST(Gate, MessagesOfAnEpochWaitForItsPost) {
  Gate gate;
  const Gate::Message before{gate.asked()};
  gate.start();
  EXPECT_FALSE(gate.open());
  EXPECT_TRUE(gate.lets(before));
  EXPECT_FALSE(gate.lets({gate.asked()}));
  gate.posted();
  EXPECT_TRUE(gate.open());
  EXPECT_TRUE(gate.lets({gate.asked()}));
}

TEST(Gate, LimitedRecordsGoBehindALockThatIsNotGranted) {
  Gate gate;
  gate.lock();
  const Gate::Message half{gate.asked(), kBehind / 2};
  EXPECT_TRUE(gate.lets(half));
  EXPECT_TRUE(gate.lets(half));
  EXPECT_FALSE(gate.lets(half));
  EXPECT_TRUE(gate.grant());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(gate.lets(half));
  EXPECT_FALSE(gate.grant());
}

TEST(Gate, AMessageOfAnySizeGoesFirstBehindALock) {
  Gate gate;
  gate.lock();
  EXPECT_TRUE(gate.lets({gate.asked(), 4 * kBehind}));
  EXPECT_FALSE(gate.lets({gate.asked(), 1}));
}

TEST(Gate, NumbersHoldMessagesUpOnlyIfDataHasItsOwn) {
  Gate gate;
  EXPECT_EQ(gate.number(false), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(gate.lets({gate.asked(), kBehind}));
  EXPECT_EQ(gate.number(true), 2U);
  EXPECT_TRUE(gate.lets({gate.asked(), kBehind}));
  EXPECT_FALSE(gate.lets({gate.asked(), kBehind}));
  EXPECT_TRUE(gate.answer(1));
  EXPECT_FALSE(gate.lets({gate.asked(), kBehind}));
  EXPECT_TRUE(gate.answer(2));
  EXPECT_TRUE(gate.answered(2));
  EXPECT_TRUE(gate.lets({gate.asked(), kBehind}));
  EXPECT_FALSE(gate.answer(3));
}

TEST(Gate, RequestedAnswersAndPartsAreLimited) {
  Gate gate;
  EXPECT_TRUE(gate.lets({{}, 0, kMostAnswers + 1}));
  EXPECT_FALSE(gate.lets({{}, 0, 1}));
  gate.answers_came(2);
  EXPECT_TRUE(gate.lets({{}, 0, 1}));
  const Gate::Message part{{}, 0, 0, true};
  for (std::size_t i = 0; i < kStreamed; ++i) EXPECT_TRUE(gate.lets(part));
  EXPECT_FALSE(gate.lets(part));
  gate.part_ended();
  EXPECT_TRUE(gate.lets(part));
}

}  // namespace
}  // namespace isthmus::rma
