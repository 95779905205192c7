// One message from a rank to another, for tests in which something happens while it is under way.
#pragma once

#include <cstddef>
#include <vector>

#include "core/wire/message.hpp"

namespace isthmus::daemon {

/// Its memory and both operations, which nobody has begun. It has to outlive them.
struct TestMessage {
  TestMessage(int from, int to, std::size_t size, int tag = 1) : data(size), got(size + 1) {
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 31 + i / 255);
    send.peer = static_cast<core::NodeId>(to);
    send.envelope = {42, from, tag, size};
    send.data = data;
    recv.context = 42;
    recv.source = from;
    recv.tag = tag;
    recv.buffer = got.data();
    recv.capacity = size;
  }
  TestMessage(const TestMessage&) = delete;
  TestMessage& operator=(const TestMessage&) = delete;

  /// Call it when `recv` is done: whether every byte is right.
  bool is_right() const {
    return recv.envelope.size == data.size() &&
           std::vector<std::byte>(got.begin(), got.end() - 1) == data;
  }

  std::vector<std::byte> data, got;
  core::SendOp send;
  core::RecvOp recv;
};

}  // namespace isthmus::daemon
