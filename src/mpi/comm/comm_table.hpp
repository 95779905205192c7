// Handle -> object without locks for readers: open addressing over atomics. Writers take a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/mutex.hpp"

namespace isthmus::face {

class CommTable {
 public:
  CommTable() = default;
  CommTable(const CommTable&) = delete;
  CommTable& operator=(const CommTable&) = delete;

  /// Null when absent. A handle inserted before (in the sense of happens-before) is found. One
  /// never inserted is never found, even while writers change the table.
  void* find(std::uintptr_t key) const {
    const Slots* slots = slots_.load(std::memory_order_acquire);
    if (!slots) return nullptr;
    for (std::size_t i = slots->start(key);; i = slots->next(i)) {
      const Slot& slot = slots->slot[i];
      const auto found = slot.key.load(std::memory_order_acquire);
      if (found == key) {
        void* value = slot.value.load(std::memory_order_acquire);
        // A slot that changes hands changes its key first: see insert().
        if (slot.key.load(std::memory_order_relaxed) == key) return value;
      }
      if (found == kEmpty) return nullptr;
    }
  }
  /// `key` is not in the table, and neither kEmpty nor kFree.
  void insert(std::uintptr_t key, void* value);
  void erase(std::uintptr_t key);

 private:
  static constexpr std::uintptr_t kEmpty = 0;                  // ends a search
  static constexpr std::uintptr_t kFree = ~std::uintptr_t{0};  // erased, or changing hands
  struct Slot {
    std::atomic<std::uintptr_t> key{kEmpty};
    std::atomic<void*> value{nullptr};
  };
  struct Slots {
    explicit Slots(unsigned bits) : shift(64 - bits), slot(std::size_t{1} << bits) {}
    std::size_t start(std::uintptr_t key) const {
      return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> shift);
    }
    std::size_t next(std::size_t i) const { return (i + 1) & (slot.size() - 1); }
    std::size_t previous(std::size_t i) const { return (i - 1) & (slot.size() - 1); }
    unsigned shift;
    std::vector<Slot> slot;
  };
  static bool put(Slots& slots, std::uintptr_t key, void* value);
  void grow(unsigned bits) REQUIRES(mutex_);

  std::atomic<Slots*> slots_{nullptr};
  core::Mutex mutex_;
  std::size_t used_ GUARDED_BY(mutex_) = 0;  // slots that are not kEmpty
  // All tables ever published: readers may still be in an old one. Sizes double, so the old ones
  // together are smaller than the current.
  std::vector<std::unique_ptr<Slots>> tables_ GUARDED_BY(mutex_);
};

}  // namespace isthmus::face
