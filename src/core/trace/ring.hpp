// The records of the trace that are kept: the last ones of all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/trace/trace.hpp"

namespace isthmus::core::trace {

/// As it stands in a dump: eight words of the writer's byte order.
struct Record {
  std::uint64_t number = 0;  ///< counts from 1
  std::uint64_t time = 0;    ///< nanoseconds since 1970
  std::uint64_t event = 0;   ///< its number; the thread's in the upper half
  Fields fields{};
};
static_assert(sizeof(Record) == 64);

/// Any thread adds, at any time. A reader, which may be in a signal handler, sees only whole
/// records (except one whose writer slept while others filled the whole ring). No thread waits.
class Ring {
 public:
  /// `size` is a power of two.
  explicit Ring(std::size_t size) : size_(size), slots_(new Slot[size]) {}

  std::size_t size() const { return size_; }
  /// Records so far, lost ones included.
  std::uint64_t written() const { return last_.load(std::memory_order_relaxed); }

  void add(std::uint64_t time, std::uint64_t event, const Fields& fields) noexcept {
    const std::uint64_t number = last_.fetch_add(1, std::memory_order_relaxed) + 1;
    Slot& slot = slots_[number & (size_ - 1)];
    // Each word releases the zero: a reader of a new word sees that the old number is gone.
    slot.number.store(0, std::memory_order_relaxed);
    slot.words[0].store(time, std::memory_order_release);
    slot.words[1].store(event, std::memory_order_release);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      slot.words[2 + i].store(static_cast<std::uint64_t>(fields[i]), std::memory_order_release);
    }
    slot.number.store(number, std::memory_order_release);
  }

  /// The record of that number. False: it is being written, or has been overwritten.
  bool read(std::uint64_t number, Record& record) const noexcept {
    const Slot& slot = slots_[number & (size_ - 1)];
    if (slot.number.load(std::memory_order_acquire) != number) return false;
    record.number = number;
    record.time = slot.words[0].load(std::memory_order_acquire);
    record.event = slot.words[1].load(std::memory_order_acquire);
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      record.fields[i] =
          static_cast<std::int64_t>(slot.words[2 + i].load(std::memory_order_acquire));
    }
    return slot.number.load(std::memory_order_relaxed) == number;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number{0};
    std::array<std::atomic<std::uint64_t>, 7> words{};
  };

  const std::size_t size_;
  const std::unique_ptr<Slot[]> slots_;
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace isthmus::core::trace
