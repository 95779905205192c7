// The other process may do anything to the memory of a ring, at any moment. There is no access
// beyond it, never more bytes than it has, and no movement after a wrong counter. Each step is
// three bytes: who does what, and how much.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "net/shm/ring.hpp"

using namespace isthmus::net;

namespace {

constexpr std::size_t kRing = 256;

void demand(bool holds) {
  if (!holds) std::abort();
}

void check(const RingMoved& moved, std::size_t asked) {
  demand(moved.bytes <= asked && moved.bytes <= kRing);
  demand(!moved.broken || (moved.bytes == 0 && !moved.wake));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  RingHead head{};
  std::vector<std::byte> bytes(kRing);
  RingWriter writer(head, bytes);
  RingReader reader(head, bytes);
  for (std::size_t at = 0; at + 3 <= size; at += 3) {
    const std::uint64_t amount = data[at + 1] | data[at + 2] << 8;
    std::vector<std::byte> mine(amount % 600);
    const iovec part{mine.data(), mine.size()};
    switch (data[at] % 8) {
      case 0:
        check(writer.write({&part, 1}), mine.size());
        break;
      case 1:
        check(reader.read({&part, 1}), mine.size());
        break;
      case 2:
        head.written = head.written + amount;
        break;
      case 3:
        head.read = head.read + amount;
        break;
      case 4:
        head.written = amount << 48 | amount;
        break;
      case 5:
        head.read = ~amount;
        break;
      case 6:
        writer.asleep(amount % 2 != 0);
        reader.asleep(amount % 3 != 0);
        (void)writer.room();
        (void)reader.filled();
        break;
      default:
        std::memset(&bytes[amount % kRing], 0xFF, 1);
    }
  }
  return 0;
}
