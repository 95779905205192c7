// Messages and receives of one sender, receiver and tag meet in the order in which they were begun.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sim/message.hpp"

namespace isthmus::sim {

class Lanes {
 public:
  /// The receive that has waited for this message; null: it waits for one.
  Awaited* meet(Message& message, int tag) {
    return meet<Message, Awaited>(message, key(message.from, message.to, tag), true);
  }
  /// The message that has waited for this receive; null: it waits for one.
  Message* meet(Awaited& receive, int from, int to, int tag) {
    return meet<Awaited, Message>(receive, key(from, to, tag), false);
  }
  /// The number of waiting entries, over all lanes.
  std::size_t waiting() const { return lanes_.size(); }

 private:
  struct Lane {
    void* first = nullptr;
    void* last = nullptr;
    bool messages = false;
  };
  static std::uint64_t key(int from, int to, int tag) {
    return (static_cast<std::uint64_t>(tag) << 40) | (static_cast<std::uint64_t>(from) << 20) |
           static_cast<std::uint64_t>(to);
  }
  template <class Mine, class Other>
  Other* meet(Mine& mine, std::uint64_t key, bool message) {
    const auto [at, made] = lanes_.try_emplace(key);
    Lane& lane = at->second;
    if (!made && lane.messages != message) {
      auto* const found = static_cast<Other*>(lane.first);
      lane.first = found->next;
      found->next = nullptr;
      if (lane.first == nullptr) lanes_.erase(at);
      return found;
    }
    lane.messages = message;
    if (lane.last != nullptr) static_cast<Mine*>(lane.last)->next = &mine;
    if (lane.first == nullptr) lane.first = &mine;
    lane.last = &mine;
    return nullptr;
  }

  std::unordered_map<std::uint64_t, Lane> lanes_;
};

}  // namespace isthmus::sim
