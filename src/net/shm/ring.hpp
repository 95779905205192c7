// A ring of bytes in memory that two processes share: one writes, one reads. Each side trusts only
// its own counter and checks the other's, so a peer's nonsense is noticed. The reader judges the
// bytes themselves, as it does those of a socket.
//
// Neither side waits here. A side that is about to sleep sets its flag and looks once more. The
// other side then wakes it, by means of its own. A side that does not sleep costs the other no
// wake-up.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace isthmus::net {

/// The head of a ring in shared memory. All zeros is an empty ring that nobody sleeps at. Beside
/// its counter each side finds the flag that it looks at whenever that has moved. A line that the
/// other has changed takes some 100 ns to come.
struct RingHead {
  static constexpr std::size_t kLine = 64;  // a cache line
  alignas(kLine) std::atomic<std::uint64_t> written;
  std::atomic<std::uint32_t> reader_asleep;
  alignas(kLine) std::atomic<std::uint64_t> read;
  std::atomic<std::uint32_t> writer_asleep;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// What moved. `wake`: the other side sleeps and is to be woken now. `broken`: the other's counter
/// is nonsense; nothing moved, and nothing ever will.
struct RingMoved {
  std::size_t bytes = 0;
  bool wake = false;
  bool broken = false;
};

class RingWriter {
 public:
  /// `bytes` has a power of two of them. Both outlive this.
  RingWriter(RingHead& head, std::span<std::byte> bytes) : head_(head), bytes_(bytes) {}

  /// Writes as much as there is room for.
  RingMoved write(std::span<const iovec> from);
  /// Something can be written, or the ring is broken.
  bool room() const;
  /// Before and after sleeping.
  void asleep(bool is) { head_.writer_asleep.store(is ? 1 : 0, std::memory_order_seq_cst); }

 private:
  RingHead& head_;
  std::span<std::byte> bytes_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // by the reader, when it was last looked at
};

class RingReader {
 public:
  RingReader(RingHead& head, std::span<const std::byte> bytes) : head_(head), bytes_(bytes) {}

  /// Reads as much as there is.
  RingMoved read(std::span<const iovec> into);
  /// Something can be read, or the ring is broken.
  bool filled() const { return head_.written.load(std::memory_order_seq_cst) != read_; }
  void asleep(bool is) { head_.reader_asleep.store(is ? 1 : 0, std::memory_order_seq_cst); }

 private:
  RingHead& head_;
  std::span<const std::byte> bytes_;
  std::uint64_t read_ = 0;
};

}  // namespace isthmus::net
