// Frames whose payloads are written straight from the sender's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {
namespace {

using Bytes = std::vector<std::byte>;

class BorrowedTest : public testing::Test {
 protected:
  BorrowedTest() {
    a_.stream_up(0s);
    b_.stream_up(0s);
    for (int i = 0; i < 3; ++i) {  // Hello, and its consequences
      pass(a_, b_);
      pass(b_, a_);
    }
  }

  static Bytes written(const Packet& packet) {
    const auto own = packet.bytes().first(packet.size - packet.borrowed.size());
    Bytes bytes(own.begin(), own.end());
    bytes.insert(bytes.end(), packet.borrowed.begin(), packet.borrowed.end());
    return bytes;
  }

  std::vector<PacketPtr> pass(Conduit& from, Conduit& to) {
    std::vector<PacketPtr> packets;
    from.output(1, 0s, std::size_t{1} << 20, packets);
    for (const PacketPtr& packet : packets) {
      const auto result = to.input(1, written(*packet), 0s, [&](const InFrame& in, std::uint16_t) {
        taken_.assign(in.body.begin() + 8, in.body.end());
        return true;
      });
      EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
    }
    return packets;
  }

  Conduit a_{config(kA, kB), 0s}, b_{config(kB, kA), 0s};
  Bytes taken_;  // the last payload that has come
  Bytes payload_ = Bytes(50'000, std::byte{7});
};

TEST_F(BorrowedTest, WhatIsWrittenIsThePayloadWhereItIs) {
  a_.submit_borrowed(frame(0, payload_));
  std::ranges::fill(payload_, std::byte{8});  // no copy has been made
  const auto packets = pass(a_, b_);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0]->borrowed.data(), payload_.data());
  EXPECT_EQ(taken_, payload_);
}

TEST_F(BorrowedTest, WhatIsOwnedStaysAsItWas) {
  const Bytes before = payload_;
  a_.submit_borrowed(frame(0, payload_));
  EXPECT_FALSE(a_.own_some(payload_.size()));
  std::ranges::fill(payload_, std::byte{8});
  const auto packets = pass(a_, b_);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_TRUE(packets[0]->borrowed.empty());
  EXPECT_EQ(taken_, before);
}

TEST_F(BorrowedTest, WhatIsSentAgainIsWhatWasOwned) {
  const Bytes before = payload_;
  a_.submit_borrowed(frame(0, payload_));
  std::vector<PacketPtr> lost;
  a_.output(1, 0s, std::size_t{1} << 20, lost);
  EXPECT_FALSE(a_.own_some(payload_.size()));
  std::ranges::fill(payload_, std::byte{8});
  std::size_t salvaged = 0;
  a_.salvage([&](const InFrame& in) {
    EXPECT_TRUE(std::ranges::equal(in.body.subspan(8), before));
    ++salvaged;
  });
  EXPECT_EQ(salvaged, 1U);
}

TEST_F(BorrowedTest, WhatIsSalvagedIsOwnedFirst) {
  a_.submit_borrowed(frame(0, payload_));
  a_.salvage([&](const InFrame& in) {
    EXPECT_NE(in.body.data() + 8, payload_.data());
    EXPECT_TRUE(std::ranges::equal(in.body.subspan(8), payload_));
  });
}

TEST_F(BorrowedTest, LittleIsOwnedAtATimeAndNothingThatHasArrived) {
  for (int i = 0; i < 3; ++i) a_.submit_borrowed(frame(static_cast<std::uint64_t>(i), payload_));
  EXPECT_TRUE(a_.own_some(payload_.size()));
  EXPECT_TRUE(a_.own_some(payload_.size()));
  pass(a_, b_);
  b_.tick(b_.deadline().value_or(0s));
  pass(b_, a_);
  EXPECT_TRUE(a_.flushed());
  EXPECT_FALSE(a_.own_some(0)) << "the third has been acknowledged";
}

}  // namespace
}  // namespace isthmus::core
