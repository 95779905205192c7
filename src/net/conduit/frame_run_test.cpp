#include "net/conduit/frame_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace isthmus::net {
namespace {

constexpr std::size_t kPayload = std::size_t{40} * 1024;

using Bytes = std::vector<std::byte>;

Bytes piece(std::uint64_t number, std::uint64_t offset, std::size_t payload,
            std::uint64_t sequence) {
  Bytes bytes(FrameRun::kHead + payload, std::byte(offset / kPayload + 1));
  core::FrameHeader header{
      .body_size = static_cast<std::uint32_t>(core::PieceBody::kSize + payload),
      .kind = core::FrameKind::Piece,
      .hops = 3,
      .source = 1,
      .destination = 2,
      .sequence = sequence};
  core::encode_header(header, bytes.data());
  core::BodyHead body;
  core::encode(core::PieceBody{.number = number, .offset = offset}, body);
  std::copy_n(body.begin(), core::PieceBody::kSize, bytes.data() + core::kHeaderSize);
  return bytes;
}

class FrameRuns : public testing::Test {
 protected:
  /// The run behind the first piece of message 7, of that many bytes behind it.
  void expect(std::size_t behind) {
    place_.resize(behind);
    const Bytes first = piece(7, 0, kPayload, 20);
    run_.expect(std::span(first).first(FrameRun::kHead), place_);
  }
  /// Reads them, as far as the run has memory for them.
  void read(const Bytes& bytes) {
    std::size_t read = 0;
    for (const iovec& part : run_.parts()) {
      const std::size_t size = std::min(part.iov_len, bytes.size() - read);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(read), size,
                  static_cast<std::byte*>(part.iov_base));
      read += size;
    }
    run_.came(read);
  }
  Bytes rest() {
    Bytes bytes(FrameRun::kRest);
    bytes.resize(run_.rest(bytes.data()));
    return bytes;
  }

  Bytes place_;
  FrameRun run_;
};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(FrameRuns, PutsPiecesThatFollowToTheirPlaces) {
  expect(kPayload + 100);
  const Bytes second = piece(7, kPayload, kPayload, 23);
  const Bytes third = piece(7, 2 * kPayload, 100, 24);
  const Bytes more(10, std::byte{9});
  read(second + third + more);
  for (const Bytes& sent : {second, third}) {
    const auto frame = run_.next();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(std::ranges::equal(frame->head, std::span(sent).first(FrameRun::kHead)));
    EXPECT_EQ(frame->payload, sent.size() - FrameRun::kHead);
    EXPECT_EQ(frame->landed, frame->payload);
  }
  EXPECT_FALSE(run_.next());
  EXPECT_EQ(rest(), more);
  EXPECT_EQ(place_, Bytes(kPayload, std::byte{2}) + Bytes(100, std::byte{3}));
}

TEST_F(FrameRuns, TellsHowMuchOfTheLastHasLanded) {
  expect(kPayload);
  Bytes second = piece(7, kPayload, kPayload, 21);
  second.resize(FrameRun::kHead + 5);
  read(second);
  const auto frame = run_.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload, kPayload);
  EXPECT_EQ(frame->landed, 5U);
  EXPECT_FALSE(run_.next());
  EXPECT_FALSE(run_.missed());
  EXPECT_TRUE(rest().empty());
}

TEST_F(FrameRuns, LeavesAHeadThatHasComeInPartToTheRest) {
  expect(kPayload);
  Bytes second = piece(7, kPayload, kPayload, 21);
  second.resize(FrameRun::kHead - 1);
  read(second);
  EXPECT_FALSE(run_.next());
  EXPECT_FALSE(run_.missed());
  EXPECT_EQ(rest(), second);
}

TEST_F(FrameRuns, LeavesOtherFramesToTheRestInOrder) {
  const Bytes good = piece(7, kPayload, kPayload, 21);
  for (const Bytes& other :
       {piece(8, kPayload * 2, kPayload, 22), piece(7, kPayload * 3, kPayload, 22),
        piece(7, kPayload * 2, kPayload - 1, 22), Bytes(kPayload, std::byte{5})}) {
    expect(3 * kPayload);
    const Bytes behind = other + piece(7, kPayload * 2, kPayload, 23);
    read(good + behind);
    EXPECT_TRUE(run_.next());
    EXPECT_FALSE(run_.next());
    EXPECT_EQ(run_.missed(), other.size() > kPayload);  // the last is no piece
    EXPECT_EQ(rest(), behind);
    EXPECT_TRUE(run_.empty());
  }
}

TEST_F(FrameRuns, ExpectsNoMoreThanItHasHeadsFor) {
  expect(9 * kPayload);
  Bytes all;
  for (std::uint64_t i = 1; i <= FrameRun::kMost + 1; ++i) {
    all = all + piece(7, i * kPayload, kPayload, 20 + i);
  }
  read(all);
  for (std::size_t i = 0; i < FrameRun::kMost; ++i) EXPECT_TRUE(run_.next());
  EXPECT_FALSE(run_.next());
  EXPECT_EQ(rest().size(), FrameRun::kBehind);
}

TEST_F(FrameRuns, ExpectsNothingBehindOtherFramesAndWithoutPlace) {
  const Bytes first = piece(7, 0, kPayload, 20);
  Bytes place(kPayload);
  run_.expect(first, {});
  EXPECT_TRUE(run_.empty());
  run_.expect(std::span(first).first(FrameRun::kHead - 1), place);
  EXPECT_TRUE(run_.empty());
  run_.expect(piece(7, 0, 1000, 20), place);
  EXPECT_TRUE(run_.empty());
  Bytes other = first;
  other[4] = std::byte(core::FrameKind::Envelope);
  run_.expect(other, place);
  EXPECT_TRUE(run_.empty());
  read(Bytes(3, std::byte{1}));
  EXPECT_FALSE(run_.next());
  EXPECT_EQ(rest(), Bytes(3, std::byte{1}));
}

}  // namespace
}  // namespace isthmus::net
