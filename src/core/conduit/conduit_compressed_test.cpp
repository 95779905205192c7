#include <gtest/gtest.h>

#include <random>

#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {
namespace {

// Frames that end in many equal bytes, without them; every third goes as it is.
class Tails final : public Compressor {
 public:
  std::span<const std::byte> compress(std::span<const std::byte> frame) override {
    if (++calls % 3 == 0) return {};
    std::size_t equal = 1;
    while (equal < frame.size() && frame[frame.size() - equal - 1] == frame.back()) ++equal;
    out_.assign(frame.begin(), frame.end() - static_cast<std::ptrdiff_t>(equal));
    const std::byte end[] = {frame.back(), static_cast<std::byte>(equal),
                             static_cast<std::byte>(equal >> 8)};
    out_.insert(out_.end(), std::begin(end), std::end(end));
    return out_;
  }
  std::span<const std::byte> decompress(std::span<const std::byte> body) override {
    if (body.size() < 3) return {};
    const std::size_t equal = std::to_integer<std::size_t>(body[body.size() - 2]) +
                              (std::to_integer<std::size_t>(body.back()) << 8);
    in_.assign(body.begin(), body.end() - 3);
    in_.insert(in_.end(), equal, body[body.size() - 3]);
    return in_;
  }

  int calls = 0;

 private:
  std::vector<std::byte> out_, in_;
};

ConduitConfig with_tails(NodeId self, NodeId peer) {
  auto made = config(self, peer);
  made.compressor = std::make_shared<Tails>();
  return made;
}

class CompressedWeather : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CompressedWeather, EveryFrameIsDeliveredOnce) {
  const std::uint64_t seed = GetParam();
  std::mt19937_64 random(seed);
  Wan::Setup setup;
  setup.streams = 1 + static_cast<int>(seed % 3);
  setup.cut = seed % 2 == 0 ? 0 : 0.01;
  setup.custody = seed % 5 < 2;
  setup.landing = seed % 7 < 3 ? 0 : 0.3;
  Wan wan(seed, setup, with_tails(kA, kB), with_tails(kB, kA));
  wan.conduit(0).compress();
  for (int i = 0; i < 60; ++i) {
    wan.submit(0, wan.below(8000));
    wan.submit(1, wan.below(8000));
  }
  for (int step = 0; !wan.settled(); ++step) {
    ASSERT_LT(step, 100'000);
    wan.step();
    ASSERT_EQ(wan.conduit(0).dead() + wan.conduit(1).dead(), "");
  }
  EXPECT_LT(wan.conduit(0).counts().wire_bytes, wan.conduit(1).counts().wire_bytes);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CompressedWeather, testing::Range<std::uint64_t>(0, 50));

TEST(CompressedConduit, SmallFramesAreNotTried) {
  auto a = with_tails(kA, kB);
  const auto tails = std::static_pointer_cast<Tails>(a.compressor);
  Wan wan(1, {}, a, with_tails(kB, kA));
  wan.conduit(0).compress();
  for (int i = 0; i < 20; ++i) wan.submit(0, 1000);
  while (!wan.settled()) wan.step();
  EXPECT_EQ(tails->calls, 0);
}

TEST(CompressedConduit, NothingIsCompressedBeforeItIsAskedFor) {
  auto a = with_tails(kA, kB);
  const auto tails = std::static_pointer_cast<Tails>(a.compressor);
  Wan wan(1, {}, a, with_tails(kB, kA));
  for (int i = 0; i < 20; ++i) wan.submit(0, 8000);
  while (!wan.settled()) wan.step();
  EXPECT_EQ(tails->calls, 0);
}

// `to` reads the bytes that `from` writes.
Conduit::Outcome pass(Conduit& from, Conduit& to) {
  std::vector<PacketPtr> packets;
  from.output(1, Time(1ms), 1 << 20, packets);
  auto outcome = Conduit::Outcome::Good;
  for (const auto& packet : packets) {
    outcome = to.input(1, packet->bytes(), Time(1ms), [](const InFrame&, std::uint16_t) {
                  return true;
                }).outcome;
  }
  return outcome;
}

TEST(CompressedConduit, APeerWithoutACompressorRefusesThem) {
  Conduit a(with_tails(kA, kB), Time::zero()), b(config(kB, kA), Time::zero());
  a.stream_up(Time::zero());
  b.stream_up(Time::zero());
  EXPECT_EQ(pass(a, b), Conduit::Outcome::Good);
  EXPECT_EQ(pass(b, a), Conduit::Outcome::Good);
  a.compress();
  a.submit(frame(0, std::vector<std::byte>(8000)));
  EXPECT_EQ(pass(a, b), Conduit::Outcome::Broken);
  EXPECT_EQ(b.dead(), "sent a compressed frame over a link that is not compressed");
}

}  // namespace
}  // namespace isthmus::core
