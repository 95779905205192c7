#include "net/endpoint/questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

using testing::ElementsAre;

TEST(Questions, AnAnswerIsTakenOnceEvenIfItComesTwice) {
  Questions questions;
  const control::Ask first = questions.add("a"), second = questions.add("b");
  EXPECT_THAT(questions.unanswered(), ElementsAre(first, second));
  EXPECT_FALSE(questions.answer(first.number));
  EXPECT_TRUE(questions.take({first.number, "yes"}));
  EXPECT_FALSE(questions.take({first.number, "no"}));
  EXPECT_THAT(questions.unanswered(), ElementsAre(second));
  EXPECT_EQ(questions.answer(first.number), "yes");
  EXPECT_FALSE(questions.answer(first.number));
  EXPECT_FALSE(questions.take({7, "nobody has asked"}));
}

}  // namespace
}  // namespace isthmus::net
