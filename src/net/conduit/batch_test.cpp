#include "net/conduit/batch.hpp"

#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

TEST(Batch, IsLessWhereAllOfItIsEncryptedFirst) {
  const Batch batch;
  EXPECT_EQ(batch.bytes(false), Batch::kPlain);
  EXPECT_EQ(batch.bytes(true), Batch::kEncrypted);
}

TEST(Batch, IsSmallForAWhileWhereTheStreamWasFullForLong) {
  Batch batch;
  batch.was_full(Batch::kSlow / 2);
  EXPECT_EQ(batch.bytes(false), Batch::kPlain);
  batch.was_full(Batch::kSlow);
  for (int i = 0; i < Batch::kSmall; ++i) {
    EXPECT_EQ(batch.bytes(false), core::StreamPlan::kAlone);
    batch.taken();
  }
  EXPECT_EQ(batch.bytes(false), Batch::kPlain);
}

}  // namespace
}  // namespace isthmus::net
