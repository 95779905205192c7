#include "core/wire/message_body.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus::core {
namespace {

template <class Body>
std::vector<std::byte> encoded(const Body& body, std::size_t payload = 0) {
  BodyHead head{};
  const std::size_t size = encode(body, head);
  EXPECT_EQ(size, Body::kSize);
  std::vector<std::byte> bytes(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
  bytes.resize(size + payload);
  return bytes;
}

EnvelopeBody envelope() {
  return {.number = 0x0102030405060708U,
          .envelope = {.context = 9, .source = -3, .tag = 0x01020304, .size = 1000},
          .ahead = 600,
          .waits = true,
          .charged = true};
}

TEST(MessageBody, EnvelopeIsLaidOutAsDocumented) {
  const auto bytes = encoded(envelope(), 600);
  const auto at = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
  EXPECT_EQ(at(0), 8);
  EXPECT_EQ(at(7), 1);
  EXPECT_EQ(at(8), 9);
  EXPECT_EQ(at(16), 0xFD);
  EXPECT_EQ(at(19), 0xFF);
  EXPECT_EQ(at(20), 4);
  EXPECT_EQ(at(24) + 256 * at(25), 1000);
  EXPECT_EQ(at(32) + 256 * at(33), 600);
  EXPECT_EQ(at(40), 3);
  const auto back = decode_envelope(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, envelope().number);
  EXPECT_EQ(back->envelope.source, -3);
  EXPECT_EQ(back->envelope.tag, 0x01020304);
  EXPECT_EQ(back->envelope.size, 1000U);
  EXPECT_EQ(back->ahead, 600U);
  EXPECT_TRUE(back->waits && back->charged);
}

EnvelopeBody lent_envelope() {
  EnvelopeBody body = envelope();
  body.ahead = 0;
  body.lent = 0x0102030405060708U;
  return body;
}

std::vector<std::byte> encoded_lent(const EnvelopeBody& body) {
  BodyHead head{};
  EXPECT_EQ(encode(body, head), EnvelopeBody::kLentSize);
  return {head.begin(), head.begin() + EnvelopeBody::kLentSize};
}

TEST(MessageBody, EnvelopesOfLentMessagesSayWhereTheseAre) {
  const auto bytes = encoded_lent(lent_envelope());
  EXPECT_EQ(std::to_integer<int>(bytes[40]), 7);
  EXPECT_EQ(std::to_integer<int>(bytes[44]), 8);
  EXPECT_EQ(std::to_integer<int>(bytes[51]), 1);
  const auto back = decode_envelope(bytes);
  ASSERT_TRUE(back && back->lent);
  EXPECT_EQ(*back->lent, 0x0102030405060708U);
  EXPECT_TRUE(back->waits && back->charged);
}

TEST(MessageBody, EnvelopesOfLentMessagesThatContradictThemselvesAreRefused) {
  const auto refused = [](auto change) {
    EnvelopeBody body = lent_envelope();
    change(body);
    return !decode_envelope(encoded_lent(body));
  };
  EXPECT_FALSE(refused([](EnvelopeBody&) {}));
  EXPECT_FALSE(refused([](EnvelopeBody& b) { b.charged = false; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.ahead = 1; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.waits = false; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.envelope.size = 0; }));
  auto bytes = encoded_lent(lent_envelope());
  bytes.pop_back();
  EXPECT_FALSE(decode_envelope(bytes));
  bytes.resize(EnvelopeBody::kLentSize + 1);
  EXPECT_FALSE(decode_envelope(bytes));
}

TEST(MessageBody, EnvelopesThatContradictThemselvesAreRefused) {
  EXPECT_TRUE(decode_envelope(encoded(envelope(), 600)));
  EXPECT_FALSE(decode_envelope(encoded(envelope(), 601)));
  const auto refused = [](auto change) {
    EnvelopeBody body = envelope();
    change(body);
    return !decode_envelope(encoded(body));
  };
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.ahead = 1001; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.charged = false; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) { b.waits = false; }));
  EXPECT_TRUE(refused([](EnvelopeBody& b) {
    b.waits = b.charged = false;
    b.envelope.size = b.ahead = 0;
  }));
  auto bytes = encoded(envelope());
  bytes[41] = std::byte{1};
  EXPECT_FALSE(decode_envelope(bytes));
  bytes.resize(43);
  EXPECT_FALSE(decode_envelope(bytes));
}

TEST(MessageBody, PiecesGrantsAndCreditsKeepTheirLengths) {
  const PieceBody piece{.number = 5, .offset = 1ULL << 40};
  ASSERT_TRUE(decode_piece(encoded(piece, 1)));
  EXPECT_EQ(decode_piece(encoded(piece, 1))->offset, 1ULL << 40);
  EXPECT_FALSE(decode_piece(encoded(piece)));
  EXPECT_FALSE(decode_piece(encoded(PieceBody{.number = 5, .offset = ~0ULL}, 1)));
  const GrantBody grant{.number = 5, .credit = 6};
  EXPECT_EQ(decode_grant(encoded(grant))->credit, 6U);
  EXPECT_FALSE(decode_grant(encoded(grant, 1)));
  EXPECT_EQ(decode_credit(encoded(CreditBody{.credit = 7}))->credit, 7U);
  EXPECT_FALSE(decode_credit(encoded(CreditBody{.credit = 7}, 1)));
  EXPECT_FALSE(decode_credit({}));
}

TEST(MessageBody, SpoilsNameAtLeastAByteAndSayWhy) {
  const SpoilBody spoil{.piece = {.number = 5, .offset = 1ULL << 40}, .bytes = 3};
  const auto bytes = encoded(spoil, SpoilBody::kMostText);
  EXPECT_EQ(std::to_integer<int>(bytes[16]), 3);
  const auto back = decode_spoil(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->piece.number, 5U);
  EXPECT_EQ(back->piece.offset, 1ULL << 40);
  EXPECT_EQ(back->bytes, 3U);
  EXPECT_TRUE(decode_spoil(encoded(spoil)));
  EXPECT_FALSE(decode_spoil(encoded(spoil, SpoilBody::kMostText + 1)));
  EXPECT_FALSE(decode_spoil(encoded(SpoilBody{})));
  EXPECT_FALSE(decode_spoil(encoded(SpoilBody{.piece = {.offset = ~0ULL}, .bytes = 1})));
  EXPECT_FALSE(decode_spoil(std::span(bytes).first(SpoilBody::kSize - 1)));
}

}  // namespace
}  // namespace isthmus::core
