#include "net/shm/ring.hpp"

#include <algorithm>
#include <cstring>

namespace isthmus::net {
namespace {

// Moves bytes between `parts` and a ring from a position on, `most` at most. `move(part, ring
// offset, size)` copies a piece that does not go round the ring's end.
template <class Move>
std::size_t go_round(std::span<const iovec> parts, std::size_t ring, std::uint64_t position,
                     std::size_t most, Move&& move) {
  std::size_t moved = 0;
  for (const iovec& part : parts) {
    std::size_t done = 0;
    while (done < part.iov_len && moved < most) {
      const std::size_t at = (position + moved) & (ring - 1);
      const std::size_t size = std::min({part.iov_len - done, most - moved, ring - at});
      move(static_cast<std::byte*>(part.iov_base) + done, at, size);
      done += size;
      moved += size;
    }
  }
  return moved;
}

// Whether the other side slept. Only one of its wakers sees it. The store before is sequentially
// consistent, as the sleeper's are: either it sees what was stored, or this sees its flag.
bool slept(std::atomic<std::uint32_t>& flag) {
  return flag.load(std::memory_order_seq_cst) != 0 &&
         flag.exchange(0, std::memory_order_seq_cst) != 0;
}

}  // namespace

RingMoved RingWriter::write(std::span<const iovec> from) {
  std::size_t wanted = 0;
  for (const iovec& part : from) wanted += part.iov_len;
  // The reader's counter is in its cache: it is fetched where what is known of it is too little.
  if (wanted > bytes_.size() - (written_ - read_)) {
    const std::uint64_t read = head_.read.load(std::memory_order_acquire);
    if (written_ - read > bytes_.size()) return {0, false, true};
    read_ = read;
  }
  const std::size_t moved =
      go_round(from, bytes_.size(), written_, bytes_.size() - (written_ - read_),
               [this](const std::byte* part, std::size_t at, std::size_t size) {
                 std::memcpy(bytes_.data() + at, part, size);
               });
  if (moved == 0) return {};
  written_ += moved;
  head_.written.store(written_, std::memory_order_seq_cst);
  return {moved, slept(head_.reader_asleep), false};
}

bool RingWriter::room() const {
  return written_ - head_.read.load(std::memory_order_seq_cst) != bytes_.size();
}

RingMoved RingReader::read(std::span<const iovec> into) {
  const std::uint64_t there = head_.written.load(std::memory_order_acquire) - read_;
  if (there > bytes_.size()) return {0, false, true};
  const std::size_t moved = go_round(into, bytes_.size(), read_, there,
                                     [this](std::byte* part, std::size_t at, std::size_t size) {
                                       std::memcpy(part, bytes_.data() + at, size);
                                     });
  if (moved == 0) return {};
  read_ += moved;
  head_.read.store(read_, std::memory_order_seq_cst);
  // A writer is woken for half a ring, or the two would wake each other for every few bytes.
  const bool worth_it = there - moved <= bytes_.size() / 2;
  return {moved, worth_it && slept(head_.writer_asleep), false};
}

}  // namespace isthmus::net
