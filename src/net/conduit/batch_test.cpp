#include "net/conduit/batch.hpp"

#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

TEST(Batch, IsLessWhereAllOfItIsEncryptedFirst) {
  const Batch batch;
  EXPECT_EQ(batch.bytes(false), Batch::kFirst);
  EXPECT_EQ(batch.bytes(true), Batch::kEncrypted);
}

TEST(Batch, DoublesWhileTheStreamTakesAllOfIt) {
  Batch batch;
  batch.taken(Batch::kFirst - 1);  // there was no more
  EXPECT_EQ(batch.bytes(false), Batch::kFirst);
  batch.taken(Batch::kFirst);
  EXPECT_EQ(batch.bytes(false), 2 * Batch::kFirst);
  for (int i = 0; i < 4; ++i) batch.taken(batch.bytes(false));
  EXPECT_EQ(batch.bytes(false), Batch::kPlain);
  EXPECT_EQ(batch.bytes(true), Batch::kEncrypted);
}

TEST(Batch, IsSmallForAWhileWhereTheStreamWasFullForLong) {
  Batch batch;
  while (batch.bytes(false) < Batch::kPlain) batch.taken(batch.bytes(false));
  batch.was_full(Batch::kSlow / 2);
  EXPECT_EQ(batch.bytes(false), Batch::kPlain);
  batch.was_full(Batch::kSlow);
  for (int i = 0; i < Batch::kSmall; ++i) {
    EXPECT_EQ(batch.bytes(false), core::StreamPlan::kAlone);
    batch.taken(core::StreamPlan::kAlone);
  }
  EXPECT_EQ(batch.bytes(false), Batch::kFirst);
}

}  // namespace
}  // namespace isthmus::net
