#include "mpi/request/tracked.hpp"

#include <utility>

namespace isthmus::face {

TrackedTable tracked;

std::size_t TrackedTable::slot_of(std::uintptr_t key) const {
  std::size_t i = home(key);
  while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
  return i;
}

void TrackedTable::grow() {
  std::vector<Tracked> old(slots_.empty() ? 64 : 2 * slots_.size());
  std::swap(old, slots_);
  for (const Tracked& entry : old) {
    if (entry.key != 0) slots_[slot_of(entry.key)] = entry;
  }
}

void TrackedTable::count(const Tracked& entry, int change) {
  const auto by = static_cast<std::size_t>(change);
  size_.store(size_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  if (entry.object == nullptr) return;
  others_.store(others_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

void TrackedTable::insert(const Tracked& entry) {
  const core::Lock lock(lock_);
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (2 * (size + 1) > slots_.size()) grow();
  Tracked& slot = slots_[slot_of(entry.key)];
  if (slot.key != 0) count(slot, -1);
  slot = entry;
  count(slot, 1);
}

std::optional<Tracked> TrackedTable::find(std::uintptr_t key) const {
  if (empty() || key == 0) return std::nullopt;
  const core::Lock lock(lock_);
  if (slots_.empty()) return std::nullopt;
  const Tracked& slot = slots_[slot_of(key)];
  if (slot.key == 0) return std::nullopt;
  return slot;
}

void TrackedTable::erase(std::uintptr_t key) {
  const core::Lock lock(lock_);
  if (slots_.empty() || key == 0) return;
  std::size_t hole = slot_of(key);
  if (slots_[hole].key == 0) return;
  count(slots_[hole], -1);
  // Later entries move up if their search would otherwise end at the hole.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = (hole + 1) & mask; slots_[i].key != 0; i = (i + 1) & mask) {
    const std::size_t distance = (i - home(slots_[i].key)) & mask;
    if (distance >= ((i - hole) & mask)) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = {};
}

}  // namespace isthmus::face
