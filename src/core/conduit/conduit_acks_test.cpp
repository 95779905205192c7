// Acknowledgements: the answers that carry them.
#include <gtest/gtest.h>

#include <vector>

#include "core/conduit/conduit_peer.hpp"

namespace isthmus::core {
namespace {

/// A peer sends messages, each `apart` after this end's answer to the last. Returns the number of
/// acknowledgements that go with the answers.
int acknowledgements_of(Time apart, int messages, Time round_trip = {}) {
  Conduit conduit(config(kA, kB), Time::zero());
  conduit.set_round_trip(round_trip);
  const StreamId stream = conduit.stream_up(Time::zero());
  Time now{};
  const auto give = [&](const std::vector<std::byte>& bytes) {
    conduit.input(stream, bytes, now, [](const auto&, auto) { return true; });
  };
  give(packet(FrameKind::Hello, 0, encode_hello(hello())));
  std::vector<PacketPtr> out;
  conduit.output(stream, now, kMaxBody, out);
  int acks = 0;
  for (int i = 1; i <= messages; ++i) {
    now += apart;
    give(packet(FrameKind::Piece, static_cast<std::uint64_t>(i), std::vector<std::byte>(16)));
    conduit.submit(frame(static_cast<std::uint64_t>(i), {}));
    out.clear();
    conduit.output(stream, now, kMaxBody, out);
    EXPECT_EQ(out.back()->kind, FrameKind::Piece);
    acks += out.front()->kind == FrameKind::Ack ? 1 : 0;
  }
  return acks;
}

TEST(Conduit, AnswersTakeAcknowledgementsAlongWhereTheyAreSoonDueOrForMany) {
  EXPECT_EQ(acknowledgements_of(1us, 480), 30);
  EXPECT_EQ(acknowledgements_of(4ms, 20), 20);
  EXPECT_EQ(acknowledgements_of(2ms, 20), 10);
  EXPECT_EQ(acknowledgements_of(2ms, 20, 999us), 10);
  EXPECT_EQ(acknowledgements_of(2ms, 20, 1ms), 20) << "late frames may go again at the other end";
  EXPECT_EQ(acknowledgements_of(2ms, 20, 2ms), 20) << "late frames go again";
  EXPECT_EQ(acknowledgements_of(2ms, 21, 20ms), 7);
}

}  // namespace
}  // namespace isthmus::core
