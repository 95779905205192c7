#include "core/wire/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace isthmus::core {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

struct Small {
  std::uint64_t number, context;
  int source, tag;
  std::string text;
  bool operator==(const Small&) const = default;
};

std::vector<Small> read_all(std::span<const std::byte> body, bool malformed = false) {
  std::vector<Small> all;
  BatchReader reader(body);
  std::span<const std::byte> payload;
  while (const auto m = reader.next(payload)) {
    EXPECT_TRUE(m->charged);
    EXPECT_FALSE(m->waits);
    EXPECT_EQ(m->ahead, payload.size());
    EXPECT_EQ(m->envelope.size, payload.size());
    all.push_back({m->number, m->envelope.context, m->envelope.source, m->envelope.tag,
                   std::string(reinterpret_cast<const char*>(payload.data()), payload.size())});
  }
  EXPECT_EQ(reader.malformed(), malformed);
  return all;
}

bool add(Batches& batches, const Small& m) {
  return batches.add(m.number, {.context = m.context, .source = m.source, .tag = m.tag},
                     bytes_of(m.text));
}

TEST(Batch, MessagesThatFollowEachOtherShareABody) {
  Batches batches(4096);
  const std::vector<Small> sent{{7, 1ULL << 60, -3, 5, "one"},
                                {8, 1ULL << 60, -3, -1, ""},
                                {9, 1ULL << 60, -3, 1 << 30, "3"}};
  for (const Small& m : sent) EXPECT_TRUE(add(batches, m));
  EXPECT_EQ(batches.bytes(), 20U + 3 * 6U + 4U);
  EXPECT_EQ(read_all(batches.next()), sent);
  EXPECT_TRUE(batches.empty());
  EXPECT_EQ(batches.bytes(), 0U);
}

TEST(Batch, OthersBeginABodyOfTheirOwn) {
  Batches batches(4096);
  const std::vector<Small> sent{
      {1, 4, 0, 0, "a"}, {2, 5, 0, 0, "context"}, {3, 5, 1, 0, "source"}, {5, 5, 1, 0, "number"}};
  for (const Small& m : sent) EXPECT_TRUE(add(batches, m));
  for (const Small& m : sent) EXPECT_EQ(read_all(batches.next()), std::vector<Small>{m});
}

TEST(Batch, BodiesAreExpressAndBoundedInAll) {
  Batches batches(3 * kExpressBody);
  std::uint64_t number = 0;
  while (add(batches, {number, 1, 0, 0, std::string(100, 'x')})) ++number;
  EXPECT_LE(batches.bytes(), 3 * kExpressBody);
  EXPECT_GE(batches.bytes() + 126, 3 * kExpressBody);
  std::size_t read_so_far = 0;
  while (!batches.empty()) {
    const auto body = batches.next();
    EXPECT_LE(body.size(), kExpressBody);
    read_so_far += read_all(body).size();
  }
  EXPECT_EQ(read_so_far, number);
}

TEST(Batch, WhatDoesNotFitAloneHasNoRoom) {
  Batches batches(4 * kExpressBody);
  EXPECT_TRUE(add(batches, {0, 1, 0, 0, std::string(kExpressBody - 26, 'x')}));
  EXPECT_FALSE(add(batches, {1, 1, 0, 0, std::string(kExpressBody - 25, 'x')}));
  Batches none(0);
  EXPECT_FALSE(add(none, {0, 1, 0, 0, ""}));
  EXPECT_TRUE(none.empty());
}

TEST(Batch, WhatIsCutIsMalformed) {
  Batches batches(4096);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(add(batches, {i, 1, 0, 0, "1234"}));
  const auto body = batches.next();
  for (std::size_t size = 0; size < body.size(); ++size) {
    const bool at_the_end_of_one = size >= 30 && (size - 20) % 10 == 0;
    EXPECT_EQ(read_all(body.first(size), !at_the_end_of_one).size(),
              size < 20 ? 0 : (size - 20) / 10);
  }
}

TEST(Batch, WhatFramesCarryIsCounted) {
  Batches batches(4096);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(add(batches, {i, 1, 0, 0, "1234"}));
  const Carried carried = carried_by(FrameKind::Batch, batches.next());
  EXPECT_EQ(carried.messages, 3U);
  EXPECT_EQ(carried.bytes, 12U);
  const std::vector<std::byte> body(100);
  EXPECT_EQ(carried_by(FrameKind::Envelope, body).messages, 1U);
  EXPECT_EQ(carried_by(FrameKind::Envelope, body).bytes, 100 - EnvelopeBody::kSize);
  EXPECT_EQ(carried_by(FrameKind::Piece, body).messages, 0U);
  EXPECT_EQ(carried_by(FrameKind::Grant, body).bytes, 0U);
}

}  // namespace
}  // namespace isthmus::core
