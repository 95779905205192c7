// An engine, a receive, and the frames of one peer.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/wire/batch.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

class OnePeer : public testing::Test {
 protected:
  OnePeer() {
    op.buffer = memory.data();
    op.capacity = memory.size();
  }

  template <class Body>
  bool deliver(FrameKind kind, const Body& body, std::size_t payload = 0, NodeId source = 1) {
    BodyHead head;
    const std::size_t size = encode(body, head);
    std::vector<std::byte> bytes(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    bytes.resize(size + payload);
    return engine.deliver({kind, source, 0, bytes});
  }
  bool envelope(std::uint64_t number, std::uint64_t size, std::uint64_t ahead,
                std::size_t payload = 0, bool charged = true) {
    EnvelopeBody body;
    body.number = number;
    body.envelope.size = size;
    body.ahead = ahead;
    body.charged = charged;
    body.waits = ahead < size || !charged;
    return deliver(FrameKind::Envelope, body, payload);
  }
  bool piece(std::uint64_t number, std::uint64_t offset, std::size_t payload) {
    return deliver(FrameKind::Piece, PieceBody{number, offset}, payload);
  }
  bool spoil(std::uint64_t number, std::uint64_t offset, std::uint64_t bytes,
             std::size_t words = 1) {
    return deliver(FrameKind::Spoil, SpoilBody{{number, offset}, bytes}, words);
  }
  bool grant(std::uint64_t number, std::uint64_t credit = 0) {
    return deliver(FrameKind::Grant, GrantBody{number, credit});
  }
  bool lent(std::uint64_t number, std::uint64_t size) {
    EnvelopeBody body;
    body.number = number;
    body.envelope.size = size;
    body.waits = body.charged = true;
    body.lent = 1;
    return deliver(FrameKind::Envelope, body);
  }
  bool taken(std::uint64_t number) { return deliver(FrameKind::Taken, GrantBody{number, 0}); }
  void send(SendOp& send, bool synchronous) {
    send.peer = 1;
    send.synchronous = synchronous;
    engine.send(send);
    OutFrame out;
    ASSERT_TRUE(engine.next_frame(out));
  }

  std::vector<std::byte> memory = std::vector<std::byte>(5000);
  RecvOp op;
  Engine engine{0, {.window = 1024, .piece = 256}};
};

}  // namespace isthmus::core
