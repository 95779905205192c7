#include "mpi/comm/comm_table.hpp"

namespace isthmus::face {

// True when a kEmpty slot was used up.
bool CommTable::put(Slots& slots, std::uintptr_t key, void* value) {
  for (std::size_t i = slots.start(key);; i = slots.next(i)) {
    Slot& slot = slots.slot[i];
    const auto old = slot.key.load(std::memory_order_relaxed);
    if (old != kEmpty && old != kFree) continue;
    slot.key.store(kFree, std::memory_order_relaxed);
    slot.value.store(value, std::memory_order_release);  // a reader that sees the value sees kFree
                                                         // or later
    slot.key.store(key, std::memory_order_release);
    return old == kEmpty;
  }
}

void CommTable::grow(unsigned bits) {
  auto bigger = std::make_unique<Slots>(bits);
  used_ = 0;
  if (const Slots* old = slots_.load(std::memory_order_relaxed)) {
    for (const Slot& slot : old->slot) {
      const auto key = slot.key.load(std::memory_order_relaxed);
      if (key == kEmpty || key == kFree) continue;
      used_ += put(*bigger, key, slot.value.load(std::memory_order_relaxed));
    }
  }
  slots_.store(bigger.get(), std::memory_order_release);
  tables_.push_back(std::move(bigger));
}

void CommTable::insert(std::uintptr_t key, void* value) {
  const core::Lock lock(mutex_);
  Slots* slots = slots_.load(std::memory_order_relaxed);
  if (!slots) {
    grow(6);
  } else if (2 * (used_ + 1) > slots->slot.size()) {
    grow(64 - slots->shift + 1);
  }
  used_ += put(*slots_.load(std::memory_order_relaxed), key, value);
}

void CommTable::erase(std::uintptr_t key) {
  const core::Lock lock(mutex_);
  Slots* slots = slots_.load(std::memory_order_relaxed);
  if (!slots) return;
  for (std::size_t i = slots->start(key);; i = slots->next(i)) {
    Slot& slot = slots->slot[i];
    const auto found = slot.key.load(std::memory_order_relaxed);
    if (found == kEmpty) return;
    if (found != key) continue;
    slot.key.store(kFree, std::memory_order_relaxed);
    slot.value.store(nullptr, std::memory_order_release);
    // Free slots that end a chain become empty again, so that coming and going does not fill the
    // table.
    while (slots->slot[i].key.load(std::memory_order_relaxed) == kFree &&
           slots->slot[slots->next(i)].key.load(std::memory_order_relaxed) == kEmpty) {
      slots->slot[i].key.store(kEmpty, std::memory_order_release);
      --used_;
      i = slots->previous(i);
    }
    return;
  }
}

}  // namespace isthmus::face
