// Pieces are read to their places before they are delivered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/engine/one_peer_testbed.hpp"

namespace isthmus::core {
namespace {

class Places : public OnePeer {};

// The places for what may follow a piece, of which nothing has come.
TEST_F(Places, WhatHasComeLeavesNoPlaceBehindAPiece) {
  const auto behind = [this](std::uint64_t offset) {
    BodyHead head;
    InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
    frame.body = std::span(head).first(encode(PieceBody{0, offset}, head));
    frame.placed = 100;
    const Landing landing = engine.place(frame);
    EXPECT_EQ(landing.payload.data(), memory.data() + offset);
    EXPECT_EQ(landing.payload.size(), 100U);
    const auto begin = static_cast<std::size_t>(landing.behind.data() - memory.data());
    return landing.behind.empty() ? 0 : begin == offset + 100 ? landing.behind.size() : ~0U;
  };
  EXPECT_TRUE(envelope(0, 3000, 600));
  op.capacity = 2000;
  engine.recv(op);
  EXPECT_EQ(behind(0), 500U) << "up to `ahead`";
  EXPECT_EQ(behind(500), 0U);
  EXPECT_EQ(behind(600), 0U) << "there is not room for all";
  EXPECT_TRUE(piece(0, 400, 1));
  EXPECT_EQ(behind(0), 0U) << "something has come";
  EXPECT_EQ(behind(401), 99U);
  EXPECT_TRUE(spoil(0, 590, 10));
  EXPECT_EQ(behind(401), 0U) << "something is spoilt";
}

TEST_F(Places, UpToTheEndOfTheMessageThereIsPlaceBehindAPiece) {
  EXPECT_TRUE(envelope(0, 3000, 600));
  engine.recv(op);
  BodyHead head;
  InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
  frame.body = std::span(head).first(encode(PieceBody{0, 600}, head));
  frame.placed = 100;
  EXPECT_EQ(engine.place(frame).behind.size(), 2300U);
  EXPECT_EQ(engine.place(frame).behind.data(), memory.data() + 700);
  EXPECT_TRUE(spoil(0, 2999, 1));
  EXPECT_TRUE(engine.place(frame).behind.empty());
  EXPECT_EQ(engine.place(frame).payload.size(), 100U);
}

// A receive is posted while a piece lands where the message waits.
TEST_F(Places, APieceThatLandsBeforeItsReceiveReachesIt) {
  BodyHead head;
  InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
  const auto place = [&](std::uint64_t offset, std::size_t size) {
    frame.body = std::span(head).first(encode(PieceBody{0, offset}, head));
    frame.placed = size;
    return engine.place(frame).payload;
  };
  EXPECT_TRUE(envelope(0, 600, 600));
  EXPECT_TRUE(place(0, 100).empty()) << "nothing has come";
  EXPECT_TRUE(piece(0, 0, 100));
  std::span<std::byte> there = place(100, 100);
  ASSERT_EQ(there.size(), 100U);
  EXPECT_TRUE(engine.place(frame).behind.empty()) << "later pieces may go to the receive";
  std::ranges::fill(there, std::byte{5});
  ASSERT_TRUE(engine.deliver(frame));

  const std::span<std::byte> later = place(400, 100);
  there = place(200, 100);
  std::ranges::fill(there.first(50), std::byte{6});
  std::ranges::fill(memory, std::byte{0});
  engine.recv(op);
  EXPECT_EQ(memory[150], std::byte{5});
  EXPECT_EQ(memory[220], std::byte{0}) << "it may still be on its way";
  const std::span<std::byte> again = place(200, 100);
  EXPECT_EQ(again.data(), there.data());
  EXPECT_TRUE(engine.place(frame).behind.empty()) << "another lands there";
  std::ranges::fill(again.last(50), std::byte{7});
  ASSERT_TRUE(engine.deliver(frame));
  EXPECT_EQ(place(500, 10).data(), memory.data() + 500);
  EXPECT_EQ(place(400, 100).data(), later.data());
  EXPECT_EQ(memory[249], std::byte{6});
  EXPECT_EQ(memory[250], std::byte{7});
  EXPECT_TRUE(piece(0, 300, 299)) << "with those that have landed in part";
  EXPECT_FALSE(op.done());
  EXPECT_EQ(place(599, 1).size(), 1U);
  EXPECT_TRUE(engine.deliver(frame));
  EXPECT_TRUE(op.done());
  EXPECT_TRUE(place(599, 1).empty());
}

}  // namespace
}  // namespace isthmus::core
