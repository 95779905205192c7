#include "rma/combining.hpp"

#include <algorithm>
#include <mutex>

#include "rma/element_runs.hpp"

namespace isthmus::rma {
namespace {

/// The bytes that are combined in one turn: some 10 us, for which others wait.
constexpr std::size_t kTurn = std::size_t{64} << 10;

// For a caller that is alone.
struct Nobody {
  void lock() {}
  void unlock() {}
};

template <class Lock>
bool combine_in_turns(const Elements& there, const Combination& how,
                      std::span<const std::byte> data, std::span<std::byte> before, Lock& turn) {
  const std::size_t packed = how.element.packed();
  const auto use = [&](std::byte* memory, std::size_t at, std::size_t count) {
    while (count > 0) {
      const std::size_t now = std::min(count, kTurn / packed);
      {
        const std::lock_guard mine(turn);
        if (!before.empty()) pack(how.element, memory, before.data() + at, now);
        if (!data.empty()) combine(how.op, how.element, memory, data.data() + at, now);
      }
      memory += now * how.element.extent;
      at += now * packed;
      count -= now;
    }
  };
  if (there.map != nullptr) {
    return each_run(*there.map, there.count, there.position, there.size, there.memory, how.element,
                    use);
  }
  use(there.memory, 0, there.size / packed);
  return true;
}

}  // namespace

bool combine_there(const Elements& there, const Combination& how, std::span<const std::byte> data,
                   std::span<std::byte> before, Turn* turn) {
  if (turn != nullptr) return combine_in_turns(there, how, data, before, *turn);
  Nobody nobody;
  return combine_in_turns(there, how, data, before, nobody);
}

void swap_there(std::byte* memory, std::span<const std::byte> expected,
                std::span<const std::byte> wanted, std::span<std::byte> before, Turn* turn) {
  std::unique_lock<Turn> mine;
  if (turn != nullptr) mine = std::unique_lock(*turn);
  std::copy_n(memory, before.size(), before.begin());
  if (std::equal(before.begin(), before.end(), expected.begin())) {
    std::copy(wanted.begin(), wanted.end(), memory);
  }
}

}  // namespace isthmus::rma
