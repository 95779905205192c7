// Isthmus's entries for request handles of the program. Open addressing: an entry is found in a few
// ns, so that wait and test may look up each of their requests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/mutex.hpp"

namespace isthmus::face {

/// Hints to the processor that this is a loop that waits.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Held for a handful of instructions only.
class CAPABILITY("mutex") SpinLock {
 public:
  void lock() ACQUIRE() {
    while (held_.exchange(true, std::memory_order_acquire)) {
      while (held_.load(std::memory_order_relaxed)) relax();
    }
  }
  void unlock() RELEASE() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class TrackedRequest;  // tracked_request.hpp

struct Tracked {
  std::uintptr_t key = 0;            ///< never 0 for an entry of the table
  TrackedRequest* object = nullptr;  ///< null for a native receive, whose status gets `source`
  int source = 0;
  bool stays = false;  ///< persistent: the handle outlives a wait
};

class TrackedTable {
 public:
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Replaces an entry with the same key.
  void insert(const Tracked& entry);
  std::optional<Tracked> find(std::uintptr_t key) const;
  void erase(std::uintptr_t key);
  /// Calls found(i, entry) for each i of `count` whose key_of(i) is there; a key of 0 is skipped.
  /// The function must not change entries.
  template <class KeyOf, class Found>
  void find_each(std::size_t count, KeyOf&& key_of, Found&& found) const {
    for (std::size_t first = 0; first < count && !empty(); first += kBatch) {
      const core::Lock lock(lock_);
      for (std::size_t i = first; i < std::min(count, first + kBatch); ++i) {
        const std::uintptr_t key = key_of(i);
        if (key == 0 || slots_.empty()) continue;
        const Tracked& slot = slots_[slot_of(key)];
        if (slot.key != 0) found(i, slot);
      }
    }
  }
  /// All entries are native receives.
  bool only_receives() const { return others_.load(std::memory_order_relaxed) == 0; }

 private:
  // Entries looked up while the lock is held once: 64 take less than 1 us.
  static constexpr std::size_t kBatch = 64;

  std::size_t home(std::uintptr_t key) const REQUIRES(lock_) {
    return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> 32) & (slots_.size() - 1);
  }
  std::size_t slot_of(std::uintptr_t key) const REQUIRES(lock_);  // of it, or the free one for it
  void grow() REQUIRES(lock_);
  void count(const Tracked& entry, int change) REQUIRES(lock_);

  mutable SpinLock lock_;
  std::vector<Tracked> slots_
      GUARDED_BY(lock_);  // a power of two, at most half full; key 0 is free
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> others_{0};  // entries that have an object
};

/// The table of this process's requests.
extern TrackedTable tracked;

}  // namespace isthmus::face
