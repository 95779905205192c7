// Frames that are passed on in the memory that they arrived in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/conduit/conduit.hpp"
#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {
namespace {

constexpr NodeId kC = kFirstGateway + 2;
constexpr std::size_t kPayload = 9000;

// Frames go from `a` by `in` into the node in the middle, and out of it by `out` to `c`.
class Passing : public testing::Test {
 protected:
  Passing() {
    join(a, first, in, second);
    join(out, third, c, fourth);
  }

  void join(Conduit& one, StreamId& id, Conduit& other, StreamId& there) {
    id = one.stream_up(now);
    there = other.stream_up(now);
    for (int i = 0; i < 3; ++i) {
      move(one, id, other, there);
      move(other, there, one, id);
    }
  }
  std::vector<PacketPtr> sent(Conduit& from, StreamId id) {
    std::vector<PacketPtr> packets;
    now += 2ms;
    from.output(id, now, 1U << 30, packets);
    return packets;
  }
  void move(Conduit& from, StreamId id, Conduit& to, StreamId there) {
    for (const PacketPtr& packet : sent(from, id)) {
      const auto result = to.input(there, packet->bytes(), now, [](const InFrame&, auto) {
        ADD_FAILURE() << "a frame before any was sent";
        return true;
      });
      EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
    }
  }
  // A frame as `a` sends it, the body apart from its header.
  PacketPtr submitted() {
    const std::vector<std::byte> payload(kPayload, std::byte{42});
    a.submit(frame(7, payload));
    PacketPtr found;
    for (const PacketPtr& packet : sent(a, first)) {
      if (packet->kind == FrameKind::Piece) found = packet;
    }
    return found;
  }
  // The body has been read into memory of its own.
  Conduit::Input arrive(const PacketPtr& packet, const Conduit::Sink& sink) {
    const auto head = packet->bytes().first(kHeaderSize);
    const auto began = in.arriving(second, head);
    EXPECT_TRUE(began);
    auto memory = packet_for(began->placed);
    const auto body = packet->bytes().subspan(kHeaderSize);
    std::copy(body.begin(), body.end(), memory->body().begin());
    there = memory->body().data();
    return in.input(second, head, now, sink, began->placed, std::move(memory));
  }

  Time now{};
  Conduit a{config(kA, kB), now}, in{config(kB, kA), now}, out{config(kB, kC), now},
      c{config(kC, kB), now};
  StreamId first = 0, second = 0, third = 0, fourth = 0;
  const std::byte* there = nullptr;
};

TEST_F(Passing, AFrameLeavesInTheMemoryThatItArrivedIn) {
  const PacketPtr packet = submitted();
  ASSERT_TRUE(packet);
  const auto result = arrive(packet, [&](const InFrame& got, std::uint16_t hops) {
    EXPECT_EQ(got.body.data(), there);
    EXPECT_EQ(got.placed, 0U);
    out.forward(got, static_cast<std::uint16_t>(hops - 1));
    return true;
  });
  ASSERT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
  EXPECT_EQ(result.used, kHeaderSize);
  const auto packets = sent(out, third);
  ASSERT_FALSE(packets.empty());
  const PacketPtr& passed = packets.back();
  EXPECT_EQ(passed->bytes().data() + kHeaderSize, there);
  int arrived = 0;
  const auto end = c.input(fourth, passed->bytes(), now, [&](const InFrame& got, auto hops) {
    ++arrived;
    EXPECT_EQ(hops, kMaxHops - 1);
    EXPECT_EQ(got.source, 1U);
    EXPECT_EQ(got.destination, 2U);
    const auto body = packet->bytes().subspan(kHeaderSize);
    EXPECT_TRUE(std::equal(got.body.begin(), got.body.end(), body.begin(), body.end()));
    return true;
  });
  EXPECT_EQ(end.outcome, Conduit::Outcome::Good) << end.reason;
  EXPECT_EQ(arrived, 1);
}

TEST_F(Passing, AFrameThatHasComeBeforeIsDroppedWithItsMemory) {
  const PacketPtr packet = submitted();
  ASSERT_TRUE(packet);
  int arrived = 0;
  const auto sink = [&](const InFrame&, auto) { return ++arrived > 0; };
  // The frame comes by two streams, and its body is under way on both.
  const auto head = packet->bytes().first(kHeaderSize);
  ASSERT_EQ(arrive(packet, sink).outcome, Conduit::Outcome::Good);
  const std::size_t body = packet->size - kHeaderSize;
  const auto again = in.input(second, head, now, sink, body, packet_for(body));
  EXPECT_EQ(again.outcome, Conduit::Outcome::Good) << again.reason;
  EXPECT_EQ(arrived, 1);
  EXPECT_EQ(in.counts().duplicates, 1U);
}

TEST_F(Passing, AKeptFrameOutlivesTheCall) {
  const PacketPtr packet = submitted();
  ASSERT_TRUE(packet);
  InFrame kept;
  ASSERT_EQ(arrive(packet,
                   [&](const InFrame& got, auto) {
                     kept = got;
                     return false;
                   })
                .outcome,
            Conduit::Outcome::Good);
  EXPECT_EQ(kept.body.data(), there);
  EXPECT_EQ(kept.body.back(), std::byte{42});
}

}  // namespace
}  // namespace isthmus::core
