#include "core/wire/packet.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace isthmus::core {
namespace {

TEST(PacketMaker, SmallPacketsTakeTheMemoryOfEarlierOnesUnlessThatIsStillBeingWritten) {
  PacketMaker maker;
  auto first = maker.make({}, {}, std::vector<std::byte>(8, std::byte{1}));
  const PacketPtr written = first;
  const std::vector<std::byte> before(written->bytes().begin(), written->bytes().end());
  maker.recycle(std::move(first));
  auto second = maker.make({}, {}, std::vector<std::byte>(8, std::byte{2}));
  EXPECT_NE(second->data.get(), written->data.get());
  EXPECT_TRUE(std::ranges::equal(written->bytes(), before));
  const std::byte* const memory = second->data.get();
  maker.recycle(std::move(second));
  EXPECT_EQ(maker.make({}, {}, {})->data.get(), memory);
}

TEST(PacketMaker, CopiesBorrowedPayloadsOfPacketsThatSomebodyHolds) {
  PacketMaker maker;
  std::vector<std::byte> payload(1000, std::byte{1});
  const auto first = maker.make({}, {}, payload, true);
  const auto second = maker.make({}, {}, payload, true);
  maker.make({}, {}, payload, true);
  EXPECT_TRUE(maker.own_some(1));
  EXPECT_TRUE(first->borrowed.empty());
  EXPECT_FALSE(second->borrowed.empty());
  EXPECT_FALSE(maker.own_some(1));
  payload.assign(1000, std::byte{2});
  EXPECT_EQ(second->bytes().back(), std::byte{1});
}

}  // namespace
}  // namespace isthmus::core
