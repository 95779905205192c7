// Acknowledgements, both ways: of this end's frames, received and settled, and of the peer's.
#include <algorithm>
#include <utility>

#include "core/conduit.hpp"

namespace isthmus::core {
namespace {

// Slots that may stand behind one that is not acknowledged while few of them are in use; beyond
// that it goes apart.
constexpr std::size_t kMaxSlots = 1U << 14;

// The next data acknowledges this many frames, and all whose acknowledgement would soon be due. In
// a quick exchange each frame would else carry an acknowledgement, a tenth of its cost.
constexpr unsigned kAckFrames = 16;

}  // namespace

// ---- what this end has received -----------------------------------------------------------------

// A node that passes frames on reports at once what the source may free.
Time Conduit::ack_delay() const {
  return custody_ ? config_.ack_delay : std::max(config_.ack_delay, late_.ack_delay());
}

void Conduit::ack_soon(Time now) {
  if (!ack_pending()) ack_at_ = now + ack_delay();
}

void Conduit::consume(std::size_t body) {
  ack_soon(now_);
  consumed_ += kHeaderSize + body;
}

bool Conduit::ack_pending() const {
  return acked_bytes_ != received_bytes_ || acked_consumed_ != consumed_ || !fresh_.empty();
}

// Whether data takes an acknowledgement along.
bool Conduit::ack_rides() const {
  return ack_pending() && (unacked_ >= kAckFrames || now_ - told_at_ >= ack_delay());
}

PacketPtr Conduit::make_ack() {
  Ack ack;
  ack_due_ = false;
  if (custody_) {
    ack = settled_ack();
  } else {
    ack.received = received_;
    for (const auto& [first, last] : beyond_) {
      if (ack.beyond.size() == kMaxAckRanges) break;
      ack.beyond.emplace_back(first, last);
    }
  }
  ack.consumed = consumed_;
  acked_bytes_ = received_bytes_;
  acked_consumed_ = consumed_;
  ack_at_ = {};
  told_at_ = now_;
  unacked_ = 0;
  return unsequenced(FrameKind::Ack, encode_ack(ack));
}

void Conduit::settle(std::uint64_t sequence) {
  if (!unsettled_.contains(sequence)) return;
  ack_soon(now_);
  unsettled_.remove(sequence, sequence);
  fresh_.add(sequence);
}

// All up to this have been received and settled.
std::uint64_t Conduit::settled_up_to() const {
  if (unsettled_.empty()) return received_;
  return std::min(received_, unsettled_.ranges().begin()->first - 1);
}

// Reports each number once: a frame that takes long to settle must not crowd out later ones.
Ack Conduit::settled_ack() {
  Ack ack;
  ack.received = settled_up_to();
  fresh_.remove(0, ack.received);
  while (!fresh_.empty() && ack.beyond.size() < kMaxAckRanges) {
    const auto [first, last] = *fresh_.ranges().begin();
    ack.beyond.emplace_back(first, last);
    fresh_.remove(first, last);
  }
  ack_due_ = !fresh_.empty();
  return ack;
}

// The report may be lost with its stream: sends it again.
void Conduit::settle_anew() {
  if (!custody_) return;
  fresh_.clear();
  const std::uint64_t settled = settled_up_to();
  if (received_ > settled) fresh_.add(settled + 1, received_);
  for (const auto& [first, last] : beyond_) fresh_.add(first, last);
  for (const auto& [first, last] : unsettled_.ranges()) fresh_.remove(first, last);
}

// ---- what the peer has received -----------------------------------------------------------------

Conduit::Slot& Conduit::slot(std::uint64_t sequence) {
  return sequence < base_ ? stragglers_.at(sequence) : sent_[sequence - base_];
}

void Conduit::settle(const std::shared_ptr<Packet>& packet) {
  if (packet && packet->receipt.from != kNobody) {
    settled_.push_back(std::exchange(packet->receipt, {}));
  }
}

void Conduit::settle_all() {
  for (auto& [sequence, slot] : stragglers_) settle(slot.packet);
  for (Slot& slot : sent_) settle(slot.packet);
  for (auto& packet : express_.packets) settle(packet);
  for (auto& packet : bulk_.packets) settle(packet);
}

void Conduit::acknowledged(std::uint64_t first, std::uint64_t last) {
  const auto done = [this](std::uint64_t sequence, Slot& slot) {
    buffered_ -= slot.packet->size;
    settle(slot.packet);
    note_acknowledged(slot);
    keep_for_next(std::move(slot.packet));
    again_.erase(sequence);
    if (!overdue_.empty()) overdue_.erase(sequence);
  };
  for (auto at = stragglers_.lower_bound(first); at != stragglers_.end() && at->first <= last;) {
    done(at->first, at->second);
    at = stragglers_.erase(at);
  }
  first = std::max(first, base_);
  if (first > last) return;
  for (std::uint64_t sequence = first; sequence <= last;) {
    const auto before = acknowledged_.from(sequence);
    const bool known = before != acknowledged_.ranges().end();
    if (known && before->first <= sequence) {
      sequence = before->second + 1;
      continue;
    }
    const std::uint64_t end = known ? std::min(last, before->first - 1) : last;
    live_ -= end - sequence + 1;
    for (; sequence <= end; ++sequence) done(sequence, sent_[sequence - base_]);
  }
  acknowledged_.add(first, last);
}

void Conduit::trim() {
  const auto sparse = [this] { return sent_.size() > std::max(kMaxSlots, 4 * live_); };
  while (!sent_.empty() && (!sent_.front().packet || sparse())) {
    if (sent_.front().packet) {
      stragglers_.emplace(base_, std::move(sent_.front()));
      --live_;
    }
    sent_.pop_front();
    ++base_;
  }
  acknowledged_.remove(0, base_ - 1);
}

Conduit::Objection Conduit::take_ack(const Ack& ack) {
  const std::uint64_t end = base_ + sent_.size();  // first number not yet sent
  if (ack.received >= end || (!ack.beyond.empty() && ack.beyond.back().second >= end)) {
    return "acknowledged frames that were never sent";
  }
  if (ack.consumed > sent_bytes_) return "consumed more than was sent";
  late_.begin_ack();
  acknowledged(0, ack.received);
  for (const auto& [first, last] : ack.beyond) acknowledged(first, last);
  late_.end_ack();
  trim();
  peer_consumed_ = std::max(peer_consumed_, ack.consumed);
  return {};
}

}  // namespace isthmus::core
