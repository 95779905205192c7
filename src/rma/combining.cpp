#include "rma/combining.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace isthmus::rma {
namespace {

/// The bytes that are combined in one turn: some 10 us, for which others wait.
constexpr std::size_t kTurn = std::size_t{64} << 10;

// Calls `use(memory, packed, count)` for elements that lie in a row, from `position` of a map on.
// False: the map does not consist of such elements.
template <class Use>
bool each_run(const core::TypeMap& map, std::int64_t count, std::int64_t position, std::size_t size,
              std::byte* memory, const Element& element, Use&& use) {
  core::TypeCursor cursor(map, count, position);
  const auto packed = static_cast<std::int64_t>(element.packed());
  const auto next_of = [&](std::int64_t most) -> std::optional<std::byte*> {
    const core::Piece piece = cursor.next(most);
    if (piece.length != most) return std::nullopt;
    return memory + piece.offset;
  };
  for (std::size_t at = 0; at < size;) {
    if (element.gapless() && !element.pair) {
      const auto most = static_cast<std::int64_t>(size - at);
      const core::Piece piece = cursor.next(most);
      if (piece.length <= 0 || piece.length % packed != 0) return false;
      use(memory + piece.offset, at, static_cast<std::size_t>(piece.length / packed));
      at += static_cast<std::size_t>(piece.length);
    } else {
      const auto value = next_of(element.value_size);
      const auto index = next_of(element.index_size);
      if (!value || !index || *index != *value + element.index_offset) return false;
      use(*value, at, 1);
      at += element.packed();
    }
  }
  return true;
}

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
