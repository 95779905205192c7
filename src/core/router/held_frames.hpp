// Frames that wait at a gateway for room in a conduit. Frames from each neighbour have a queue of
// their own, and the queues take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/wire/frame.hpp"

namespace isthmus::core {

/// A frame in memory of its own.
struct HeldFrame {
  HeldFrame(NodeId neighbour, InFrame held, std::uint16_t hops_left);

  NodeId from;  ///< its neighbour; kNobody: no window is charged for it
  InFrame frame;
  std::uint16_t hops;
};

class HeldFrames {
 public:
  bool empty() const { return turns_.empty(); }
  /// Frames, and the bytes of their bodies.
  std::pair<std::size_t, std::size_t> size() const;

  void add(HeldFrame held);
  /// Removes the first frame of the queue whose turn it is. There must be one.
  HeldFrame next();
  /// Removes all.
  std::vector<HeldFrame> take_all();
  /// Removes those that `wanted` picks.
  std::vector<HeldFrame> take_if(const std::function<bool(const HeldFrame&)>& wanted);
  /// Offers the first frame of each queue, then the one behind it, until `take` returns false. True
  /// removes the frame. `take` must not call this object.
  void offer(const std::function<bool(const HeldFrame&)>& take);
  /// No window is charged any more for frames from there.
  void disown(NodeId from);

 private:
  std::map<NodeId, std::deque<HeldFrame>> queues_;  // by `from`; none is empty
  std::deque<NodeId> turns_;                        // each of `queues_` once
};

}  // namespace isthmus::core
