// Other ranks may write anything to a commons, at any moment and anywhere in it. Checks that no
// access leaves a place and that only MpiError is thrown. Each step is five bytes: rank,
// action, place and size.
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "coll/engine/commons.hpp"

using namespace isthmus::coll;

namespace {

constexpr int kRanks = 3;
constexpr std::size_t kHeads = 2048;  // the ranks' heads, and somewhat more

/// Never sleeps.
struct Awake : Sleep {
  void wait(std::atomic<std::uint32_t>&, std::uint32_t, std::chrono::microseconds) override {}
  void wake(std::atomic<std::uint32_t>&) override {}
};

/// Exactly the memory of a commons: an access behind it is an error.
class Memory {
 public:
  explicit Memory(std::size_t size)
      : bytes_{static_cast<std::byte*>(::operator new(size, std::align_val_t(64))), size} {
    std::memset(bytes_.data(), 0, size);
  }
  ~Memory() { ::operator delete(bytes_.data(), std::align_val_t(64)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// Sizes and places at which something changes, and others.
std::uint64_t telling(std::uint8_t which, std::uint64_t amount) {
  switch (which % 6) {
    case 0:
      return amount;
    case 1:
      return amount * 64;
    case 2:
      return ~amount;
    case 3:
      return amount << 48 | amount;
    case 4:
      return Commons::capacity(kRanks) + amount % 128 - 64;
    default:
      return Commons::bytes(kRanks) - amount * 64;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Memory memory(Commons::bytes(kRanks));
  Awake awake;
  Commons commons(memory.bytes(), kRanks, 0, awake, {.disagreement = 1, .absence = 2});
  std::vector<std::byte> mine(Commons::capacity(kRanks) + 64);
  for (std::size_t at = 0; at + 5 <= size; at += 5) {
    const std::uint64_t amount = data[at + 3] | data[at + 4] << 8;
    const std::uint64_t word = telling(data[at + 2], amount);
    const int rank = data[at + 1] % kRanks;
    const Bytes some(mine.data(), amount % mine.size());
    try {
      switch (data[at] % 8) {
        case 0: {
          const std::size_t where = (data[at + 1] * std::size_t{8} + amount) % kHeads / 8 * 8;
          std::memcpy(memory.bytes().data() + Commons::kMark + where, &word, sizeof word);
          break;
        }
        case 1: {
          const std::size_t where = word % (memory.bytes().size() - sizeof word);
          std::memcpy(memory.bytes().data() + where, &amount, sizeof amount);
          break;
        }
        case 2:
          if (some.size() <= commons.capacity() && commons.make_room(some.size()).done()) {
            commons.put(some);
            commons.post();
          }
          break;
        case 3:
          if (some.size() <= commons.block_capacity() &&
              commons.make_room_for_blocks(some.size()).done()) {
            for (int to = 1; to < kRanks; ++to) commons.put_block(to, some);
            commons.post();
          }
          break;
        case 4:
          commons.begin(amount % 4);
          amount % 8 == 0 ? commons.post_failure() : commons.post();
          break;
        case 5:
          commons.take(rank, some);
          break;
        case 6:
          commons.take_block(rank, some);
          break;
        default: {
          Pending posted = commons.posted_up_to(rank);
          if (posted.done()) break;
          (void)posted.operation()->near();
          posted.operation()->nap(std::chrono::microseconds(1));
        }
      }
    } catch (const isthmus::MpiError&) {
      continue;
    }
  }
  return 0;
}
