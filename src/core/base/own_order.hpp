// Items that processes send each other as they lie in memory: numbers, and structs that name theirs
// by a function `numbers()`, which returns std::tie of them. All numbers cross little-endian; on
// little-endian hosts that is how they lie.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/little_endian.hpp"

namespace isthmus::core {

template <class Item>
concept NamesNumbers = requires(Item& item) {
  item.numbers();
};

/// Reverses the bytes of each number. For tests, and for little_endian.
template <class Item>
void reverse_numbers(Item& item) {
  if constexpr (std::is_arithmetic_v<Item> || std::is_enum_v<Item>) {
    auto* const bytes = reinterpret_cast<std::byte*>(&item);
    for (std::size_t i = 0; i < sizeof item / 2; ++i)
      std::swap(bytes[i], bytes[sizeof item - 1 - i]);
  } else if constexpr (NamesNumbers<Item>) {
    std::apply([](auto&... each) { (reverse_numbers(each), ...); }, item.numbers());
  } else if constexpr (requires { item.first, item.second; }) {
    reverse_numbers(item.first);
    reverse_numbers(item.second);
  } else {
    for (auto& each : item) reverse_numbers(each);
  }
}

/// Changes numbers from this host's order into the little-endian one, and back.
template <class Item>
void little_endian(Item& item) {
  static_cast<void>(&reverse_numbers<Item>);  // it is checked on every host that it names them
  if constexpr (std::endian::native != std::endian::little) reverse_numbers(item);
}
template <class Item>
Item as_little_endian(Item item) {
  little_endian(item);
  return item;
}

}  // namespace isthmus::core
