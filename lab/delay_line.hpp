// The length of the cable: packets come out at the time that each was given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lab/packet.hpp"
#include "lab/time.hpp"

namespace isthmus::lab {

class DelayLine {
 public:
  struct Item {
    Packet packet;
    Nanos release = 0;
    std::uint64_t number = 0;
  };

  /// If `keep_order`, a packet never comes out before an earlier one, whatever its release. Packets
  /// of the same release come out in the order in which they went in.
  void push(Packet packet, Nanos release, bool keep_order) {
    if (keep_order) release = std::max(release, last_);
    last_ = std::max(release, last_);
    items_.push_back({std::move(packet), release, number_++});
    std::push_heap(items_.begin(), items_.end(), later);
  }

  /// The release of the packet that comes out next.
  std::optional<Nanos> next() const {
    if (items_.empty()) return std::nullopt;
    return items_.front().release;
  }

  /// The line must not be empty.
  Item pop() {
    std::pop_heap(items_.begin(), items_.end(), later);
    Item item = std::move(items_.back());
    items_.pop_back();
    return item;
  }

  std::size_t size() const { return items_.size(); }
  /// Empties the line. `last_` goes too: no packet is left to overtake.
  void clear() {
    items_.clear();
    last_ = 0;
  }

 private:
  static bool later(const Item& a, const Item& b) {
    return a.release != b.release ? a.release > b.release : a.number > b.number;
  }

  std::vector<Item> items_;  // a heap
  Nanos last_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace isthmus::lab
