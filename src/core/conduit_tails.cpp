// Frames that are late: their stream stands, but has probably lost its tail. They go again over
// another. A receiver drops what comes twice by its number.
#include <algorithm>

#include "core/conduit.hpp"
#include "core/debug_off.hpp"

namespace isthmus::core {

void Conduit::note_acknowledged(const Slot& slot) {
  if (!late_.possible()) return;
  const auto stream = streams_.find(slot.stream);
  if (stream != streams_.end()) stream->second.late_until = {};
  acked_at_ = std::max(acked_at_, slot.at);
  if (slot.tries == 0) late_.acked_after(now_ - slot.at);
}

// Large frames are repeated only when no bulk is queued: data sent after them reveals a loss to the
// kernel.
bool Conduit::may_repeat(const Slot& slot) const {
  if (slot.tries >= Late::kTries || !late_.may_spend(slot.packet->size)) return false;
  return slot.packet->size <= kHeaderSize + kExpressBody || bulk_.empty();
}

// A frame is late if it has waited for long while others, sent no earlier, have arrived. If none
// has, the whole path may have become slow: then one frame goes again, and its arrival speaks for
// the rest.
void Conduit::look_for_late() {
  look_late_ = Time::max();
  if (!late_.possible() || custody_ || streams_.size() < 2) return;
  if (off(Mechanism::LateFrames)) return;
  const Time after = late_.after();
  bool more = false;
  const auto look = [&](std::uint64_t sequence, Slot& slot) {
    if (!slot.packet || again_.contains(sequence)) return true;
    if (slot.at + after > now_) {
      look_late_ = std::min(look_late_, slot.at + after);
      return slot.tries > 0;  // all later ones went later, except those that went again
    }
    more = true;
    if (overdue_.contains(sequence) || !may_repeat(slot)) return true;
    const bool told = acked_at_ + late_.beside() >= slot.at;
    if (!told && !late_.may_ask(now_)) return true;
    if (!told) late_.asks(now_);
    late_.spend(slot.packet->size);
    overdue_.insert(sequence);
    const auto stream = streams_.find(slot.stream);
    if (stream != streams_.end()) stream->second.late_until = now_ + late_.avoided();
    return true;
  };
  for (auto& [sequence, slot] : stragglers_) look(sequence, slot);
  for (std::size_t i = 0; i < sent_.size() && look(base_ + i, sent_[i]); ++i) {
  }
  if (more) look_late_ = std::min(look_late_, now_ + after / 2);
}

// Others take what is new, while more than half of the streams may.
bool Conduit::avoided(const Stream& stream) const {
  if (stream.late_until <= now_ || off(Mechanism::AvoidLate)) return false;
  const auto late = std::count_if(streams_.begin(), streams_.end(), [this](const auto& entry) {
    return entry.second.late_until > now_;
  });
  return 2 * static_cast<std::size_t>(late) < streams_.size();
}

bool Conduit::avoids(StreamId id) const {
  const auto stream = streams_.find(id);
  return stream != streams_.end() && avoided(stream->second);
}

// The first late frame that may go by this stream, or 0.
std::uint64_t Conduit::late_for(StreamId id, bool bulk) const {
  if (overdue_.empty()) return 0;
  const auto stream = streams_.find(id);
  if (stream == streams_.end() || stream->second.late_until > now_) return 0;
  for (const std::uint64_t sequence : overdue_) {
    const Slot& slot = sequence < base_ ? stragglers_.at(sequence) : sent_[sequence - base_];
    if (slot.stream == id) continue;
    if (bulk || slot.packet->size <= kHeaderSize + kExpressBody) return sequence;
  }
  return 0;
}

}  // namespace isthmus::core
