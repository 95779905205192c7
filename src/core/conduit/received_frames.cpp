#include "core/conduit/received_frames.hpp"

namespace isthmus::core {
namespace {

constexpr std::size_t kMaxGaps = 1U << 16;  // in the received numbers

}  // namespace

bool ReceivedFrames::note(std::uint64_t number) {
  if (has(number)) return false;
  if (number != received_ + 1) {
    beyond_.add(number);
    return true;
  }
  received_ = number;
  if (beyond_.contains(number + 1)) {
    received_ = beyond_.ranges().begin()->second;
    beyond_.remove(0, received_);
  }
  return true;
}

ReceivedFrames::Taken ReceivedFrames::take(std::uint64_t number, std::size_t bytes, bool routed,
                                           Time now, Time delay) {
  if (!note(number)) {
    due_ = true;
    return Taken::Before;
  }
  if (beyond_.ranges().size() > kMaxGaps) return Taken::Gaps;
  soon(now, delay);
  ++unacked_;
  if (custody_) (routed ? unsettled_ : fresh_).add(number);
  bytes_ += bytes;
  return bytes_ - consumed_ > window_ ? Taken::NoWindow : Taken::New;
}

void ReceivedFrames::check() {
  if (bytes_ - acked_bytes_ >= many()) due_ = true;
}

void ReceivedFrames::settle(std::uint64_t number, Time now, Time delay) {
  if (!unsettled_.contains(number)) return;
  soon(now, delay);
  unsettled_.remove(number, number);
  fresh_.add(number);
}

std::uint64_t ReceivedFrames::settled_up_to() const {
  if (unsettled_.empty()) return received_;
  return std::min(received_, unsettled_.ranges().begin()->first - 1);
}

// In custody it reports each number once: a frame that takes long to settle must not crowd out
// later ones.
Ack ReceivedFrames::report(Time now) {
  Ack ack;
  ack.received = acknowledged();
  ack.consumed = consumed_;
  if (custody_) fresh_.remove(0, ack.received);
  for (const auto& [first, last] : (custody_ ? fresh_ : beyond_).ranges()) {
    if (ack.beyond.size() == kMaxAckRanges) break;
    ack.beyond.emplace_back(first, last);
  }
  if (custody_ && !ack.beyond.empty()) fresh_.remove(0, ack.beyond.back().second);
  due_ = !fresh_.empty();
  acked_bytes_ = bytes_;
  acked_consumed_ = consumed_;
  due_at_ = {};
  told_at_ = now;
  unacked_ = 0;
  return ack;
}

void ReceivedFrames::report_anew() {
  if (!custody_) return;
  fresh_.clear();
  fresh_.add(settled_up_to() + 1, received_);
  for (const auto& [first, last] : beyond_.ranges()) fresh_.add(first, last);
  for (const auto& [first, last] : unsettled_.ranges()) fresh_.remove(first, last);
}

}  // namespace isthmus::core
