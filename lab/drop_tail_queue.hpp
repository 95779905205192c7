// The buffer of a router's port, of limited bytes; packets that come when it is full are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

#include "lab/packet.hpp"
#include "lab/time.hpp"

namespace isthmus::lab {

class DropTailQueue {
 public:
  struct Item {
    Packet packet;
    Nanos arrival = 0;
  };

  /// 0 is unlimited. A limit below the held bytes drops none of them.
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }

  /// The number of further bytes that fit when `in_service` bytes of the packet that has left the
  /// queue are still to be sent.
  std::uint64_t room(std::uint64_t in_service) const {
    if (limit_ == 0) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t held = bytes_ + in_service;
    return held < limit_ ? limit_ - held : 0;
  }

  void push(Packet packet, Nanos now) {
    bytes_ += packet.wire_bytes;
    items_.push_back({std::move(packet), now});
  }
  Item pop() {
    Item item = std::move(items_.front());
    items_.pop_front();
    bytes_ -= item.packet.wire_bytes;
    return item;
  }
  const Item& front() const { return items_.front(); }
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::deque<Item> items_;
  std::uint64_t bytes_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace isthmus::lab
