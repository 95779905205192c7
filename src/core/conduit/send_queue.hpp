// Frames that no stream has taken yet: which one goes next, and whether the peer's window has room
// for it. Express frames overtake bulk, within limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "core/wire/packet.hpp"

namespace isthmus::core {

class SendQueue {
 public:
  void push(std::shared_ptr<Packet> packet) {
    (packet->express() ? express_ : bulk_).push(std::move(packet));
  }
  /// Bye goes when all else has gone.
  void push_last(std::shared_ptr<Packet> packet) { bulk_.push(std::move(packet)); }
  /// The frame that pop() would return may go; without `bulk`, only an express frame may. A frame
  /// fits into the window as a whole, or waits.
  bool ready(bool bulk) const {
    const Line* const line = next(bulk);
    if (line == nullptr) return false;
    const std::uint64_t kept = line == &bulk_ ? std::min(kExpressWindow, window_ / 8) : 0;
    return sent_ + line->packets.front()->size - consumed_ <=
           std::max(window_ - kept, std::uint64_t{kHeaderSize + kMaxBody});
  }
  /// Only if ready().
  std::shared_ptr<Packet> pop(bool bulk) {
    const bool express = next(bulk) == &express_;
    express_run_ = express && !bulk_.empty() ? express_run_ + 1 : 0;
    auto packet = (express ? express_ : bulk_).pop();
    sent_ += packet->size;
    return packet;
  }

  void set_window(std::uint64_t bytes) { window_ = bytes; }
  /// The peer has consumed that many bytes since the beginning. False: more than were sent.
  bool consumed(std::uint64_t bytes) {
    if (bytes > sent_) return false;
    consumed_ = std::max(consumed_, bytes);
    return true;
  }

  /// Bytes that the other end has not consumed yet.
  std::size_t backlog() const {
    return express_.bytes + bulk_.bytes + static_cast<std::size_t>(sent_ - consumed_);
  }
  std::size_t bytes(bool bulk) const { return (bulk ? bulk_ : express_).bytes; }
  bool empty(bool bulk) const { return (bulk ? bulk_ : express_).packets.empty(); }
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& packet : express_.packets) visit(packet);
    for (const auto& packet : bulk_.packets) visit(packet);
  }

 private:
  // Bulk leaves this much of the window to express frames, or an eighth of a small window. They
  // must not wait until the other end has passed on all it has.
  static constexpr std::uint64_t kExpressWindow = 64 * 1024;
  static constexpr int kExpressRun = 16;  // express frames in a row before bulk has its turn

  struct Line {
    std::deque<std::shared_ptr<Packet>> packets;
    std::size_t bytes = 0;

    bool empty() const { return packets.empty(); }
    void push(std::shared_ptr<Packet> packet) {
      bytes += packet->size;
      packets.push_back(std::move(packet));
    }
    std::shared_ptr<Packet> pop() {
      auto packet = std::move(packets.front());
      packets.pop_front();
      bytes -= packet->size;
      return packet;
    }
  };

  // The choice does not depend on the window, or large frames would starve.
  const Line* next(bool bulk) const {
    if (!bulk) return express_.empty() ? nullptr : &express_;
    if (express_.empty()) return bulk_.empty() ? nullptr : &bulk_;
    if (bulk_.empty() || express_run_ < kExpressRun) return &express_;
    return bulk_.packets.front()->kind == FrameKind::Bye ? &express_ : &bulk_;
  }

  Line express_, bulk_;
  int express_run_ = 0;
  std::uint64_t sent_ = 0;      // bytes
  std::uint64_t consumed_ = 0;  // of them, by the peer
  std::uint64_t window_ = 0;
};

}  // namespace isthmus::core
