// Frames that are acknowledged only when they have arrived further on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/conduit/conduit.hpp"
#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {
namespace {

// Two ends joined by hand; the second keeps custody.
class Custody : public testing::Test {
 protected:
  Custody() {
    b.keep_custody();
    connect();
  }

  void connect() {
    ia = a.stream_up(now);
    ib = b.stream_up(now);
    exchange();
  }
  void cut() {
    a.stream_down(ia);
    b.stream_down(ib);
  }
  void submit(std::uint64_t number, std::size_t size = 0) {
    const std::vector<std::byte> payload(size);
    a.submit(frame(number, payload));
  }
  // Until both are silent.
  void exchange() {
    for (bool moved = true; moved;) {
      now += 2ms;
      (void)a.tick(now);
      (void)b.tick(now);
      moved = move(a, ia, b, ib, true);
      moved = move(b, ib, a, ia, false) || moved;
    }
  }
  // Sends frames that are lost with the stream.
  void lose(Conduit& from, StreamId id) {
    std::vector<PacketPtr> packets;
    now += 2ms;
    (void)from.tick(now);
    from.output(id, now, 1U << 30, packets);
    EXPECT_FALSE(packets.empty());
  }
  bool move(Conduit& from, StreamId out, Conduit& to, StreamId in, bool keep) {
    std::vector<PacketPtr> packets;
    from.output(out, now, 1U << 30, packets);
    for (const auto& packet : packets) {
      const auto result = to.input(in, packet->bytes(), now, [&](const InFrame& got, auto) {
        if (keep) {
          EXPECT_EQ(got.receipt.from, kA);
          receipts.push_back(got.receipt.sequence);
        }
        return true;
      });
      EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
    }
    return !packets.empty();
  }
  std::size_t kept_by_the_source() {
    std::size_t count = 0;
    a.salvage([&](const InFrame&) { ++count; });
    return count;
  }

  Time now{};
  Conduit a{config(kA, kB), now}, b{config(kB, kA), now};
  StreamId ia = 0, ib = 0;
  std::vector<std::uint64_t> receipts;
};

TEST_F(Custody, AFrameIsTheSourcesUntilItIsSettled) {
  for (std::uint64_t i = 0; i < 10; ++i) submit(i);
  exchange();
  ASSERT_EQ(receipts.size(), 10U);
  EXPECT_EQ(kept_by_the_source(), 10U);
  for (const std::size_t i : {7, 2, 3, 0}) b.settle(receipts[i]);
  exchange();
  EXPECT_EQ(kept_by_the_source(), 6U);
  for (const auto sequence : receipts) b.settle(sequence);  // some a second time
  exchange();
  EXPECT_TRUE(a.flushed());
}

TEST_F(Custody, ItsWindowDoesNotWait) {
  for (std::uint64_t i = 0; i < 10; ++i) submit(i, 1000);
  exchange();
  EXPECT_EQ(a.backlog(), 0U);
  EXPECT_GT(a.buffered(), 10'000U);
}

TEST_F(Custody, WhatIsNotSettledForLongHoldsBackNothingElse) {
  constexpr std::size_t kFrames = 200'000;
  for (std::size_t i = 0; i < kFrames; ++i) {
    submit(i);
    if (i % 1000 != 999) continue;
    exchange();
    for (; receipts.size() > 1000; receipts.pop_back()) {
      // Every second receipt of the first thousand is kept: more gaps than fit in an
      // acknowledgement.
      b.settle(receipts.back());
    }
    if (i == 999) {
      for (std::size_t k = 0; k < 1000; k += 2) b.settle(receipts[k]);
    }
    exchange();
    ASSERT_EQ(kept_by_the_source(), 500U) << i;
  }
  for (const auto sequence : receipts) b.settle(sequence);
  exchange();
  EXPECT_TRUE(a.flushed());
}

TEST_F(Custody, WhatALostStreamHadAcknowledgedIsToldAgain) {
  for (std::uint64_t i = 0; i < 10; ++i) submit(i);
  exchange();
  for (const std::size_t i : {4, 6}) b.settle(receipts[i]);
  lose(b, ib);
  cut();
  receipts.clear();
  connect();
  EXPECT_TRUE(receipts.empty()) << "delivered twice";
  EXPECT_EQ(kept_by_the_source(), 8U);
}

TEST_F(Custody, TheReceiptsOfWhatIsForwardedComeBack) {
  const std::vector<std::byte> body(8);
  InFrame in{.kind = FrameKind::Piece, .source = 1, .destination = 2, .body = body};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    in.receipt = {5, i};
    a.forward(in, kMaxHops);
  }
  exchange();
  EXPECT_TRUE(a.take_settled().empty());
  b.settle(receipts[1]);
  exchange();
  auto settled = a.take_settled();
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].from, 5U);
  EXPECT_EQ(settled[0].sequence, 2U);
  a.settle_all();  // the peer is gone
  EXPECT_EQ(a.take_settled().size(), 2U);
  a.bye();
  a.forward(in, kMaxHops);  // too late
  EXPECT_EQ(a.take_settled().size(), 1U);
}

}  // namespace
}  // namespace isthmus::core
