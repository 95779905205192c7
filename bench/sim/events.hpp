// Future events, by time; at the same time, in the order of scheduling.
#pragma once

#include <cstdint>
#include <queue>

namespace isthmus::sim {

enum class Happens : std::uint8_t {
  AtLink,      ///< a message is ready for its sender's link
  LinkFree,    ///< a link can take the next piece
  AtGateway,   ///< a piece has got to the way out of its cluster
  AtWan,       ///< a piece's head has got to the wide area
  AtReceiver,  ///< ... and to the receiver's link
  Arrived,     ///< all of a message is there
  Delivered,   ///< the receiving process has seen to it
  Heard,       ///< the sender has heard of it
};

struct Event {
  double time;
  std::uint64_t order;  // its low bits are the kind of event
  void* to;

  Happens what() const { return static_cast<Happens>(order & 7); }
  bool operator<(const Event& other) const {  // of a heap whose top is the next one
    return time > other.time || (time == other.time && order > other.order);
  }
};

class Events {
 public:
  void add(double time, Happens what, void* to) {
    heap_.push({time, (said_++ << 3) | static_cast<std::uint64_t>(what), to});
  }
  bool empty() const { return heap_.empty(); }
  Event take() {
    const Event next = heap_.top();
    heap_.pop();
    return next;
  }
  std::uint64_t count() const { return said_; }

 private:
  std::priority_queue<Event> heap_;
  std::uint64_t said_ = 0;
};

}  // namespace isthmus::sim
