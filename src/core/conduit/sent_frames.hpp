// The numbered frames that a conduit keeps until the peer acknowledges them, and those that are
// lost with their stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/base/number_set.hpp"
#include "core/base/time.hpp"
#include "core/wire/packet.hpp"

namespace isthmus::core {

using StreamId = std::uint32_t;

class SentFrames {
 public:
  struct Slot {
    std::shared_ptr<Packet> packet;  ///< null: acknowledged
    StreamId stream = 0;             ///< the last one that carried it
    int tries = 0;                   ///< over streams that stand
    Time at{};                       ///< when it went the last time
  };

  /// The number of the next frame.
  std::uint64_t end() const { return base_ + slots_.size(); }
  void add(std::shared_ptr<Packet> packet, StreamId stream, Time now) {
    slots_.push_back({std::move(packet), stream, 0, now});
    ++live_;
  }
  /// A frame that is not acknowledged.
  Slot& at(std::uint64_t number) {
    return number < base_ ? apart_.at(number) : slots_[number - base_];
  }
  const Slot& at(std::uint64_t number) const { return const_cast<SentFrames*>(this)->at(number); }

  /// `done(number, packet, slot)` takes over the packet of each frame from `first` to `last`, below
  /// end(), that was not acknowledged before. Call trim() after the last range.
  template <class Done>
  void acknowledge(std::uint64_t first, std::uint64_t last, Done done);
  void trim();

  /// The stream is gone, and with it what it carried.
  void lose(StreamId stream);
  bool any_lost() const { return !lost_.empty(); }
  bool is_lost(std::uint64_t number) const { return lost_.contains(number); }
  std::size_t lost() const { return lost_.size(); }
  /// The first lost frame, which now goes by `stream`.
  std::pair<std::uint64_t, Slot*> resend(StreamId stream, Time now);

  /// `visit(number, slot)` sees the frames that are not acknowledged, in order. If it returns
  /// false, it sees none of those that follow, except a few very old ones.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [number, slot] : apart_) visit(number, slot);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].packet && !visit(base_ + i, slots_[i])) return;
    }
  }

 private:
  // Slots that may stand behind one that is not acknowledged while few of them are in use; beyond
  // that it goes apart.
  static constexpr std::size_t kMaxSlots = 1U << 14;

  std::deque<Slot> slots_;  // numbers base_ ...
  std::uint64_t base_ = 1;
  std::size_t live_ = 0;                 // of slots_, not acknowledged
  std::map<std::uint64_t, Slot> apart_;  // before base_
  NumberSet acknowledged_;               // from base_ on
  std::set<std::uint64_t> lost_;         // to go again
};

template <class Done>
void SentFrames::acknowledge(std::uint64_t first, std::uint64_t last, Done done) {
  const auto finish = [&](std::uint64_t number, Slot& slot) {
    done(number, std::exchange(slot.packet, nullptr), slot);
    if (!lost_.empty()) lost_.erase(number);
  };
  for (auto at = apart_.lower_bound(first); at != apart_.end() && at->first <= last;) {
    finish(at->first, at->second);
    at = apart_.erase(at);
  }
  first = std::max(first, base_);
  if (first > last) return;
  for (std::uint64_t number = first; number <= last;) {
    const auto before = acknowledged_.from(number);
    const bool known = before != acknowledged_.ranges().end();
    if (known && before->first <= number) {
      number = before->second + 1;
      continue;
    }
    const std::uint64_t end = known ? std::min(last, before->first - 1) : last;
    live_ -= end - number + 1;
    for (; number <= end; ++number) finish(number, slots_[number - base_]);
  }
  acknowledged_.add(first, last);
}

inline void SentFrames::trim() {
  const auto sparse = [this] { return slots_.size() > std::max(kMaxSlots, 4 * live_); };
  while (!slots_.empty() && (!slots_.front().packet || sparse())) {
    if (slots_.front().packet) {
      apart_.emplace(base_, std::move(slots_.front()));
      --live_;
    }
    slots_.pop_front();
    ++base_;
  }
  acknowledged_.remove(0, base_ - 1);
}

inline void SentFrames::lose(StreamId stream) {
  each([&](std::uint64_t number, const Slot& slot) {
    if (slot.stream == stream) lost_.insert(number);
    return true;
  });
}

inline std::pair<std::uint64_t, SentFrames::Slot*> SentFrames::resend(StreamId stream, Time now) {
  const std::uint64_t number = *lost_.begin();
  lost_.erase(lost_.begin());
  Slot& slot = at(number);
  slot.stream = stream;
  slot.at = now;
  return {number, &slot};
}

}  // namespace isthmus::core
