#include "core/datatype/format.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cstring>

#include "core/base/little_endian.hpp"
#include "core/datatype/long_double.hpp"

namespace isthmus::core {
namespace {

constexpr std::size_t kLongDoubleSize = 16;

template <class Word>
Word reversed(Word word) {
  if constexpr (sizeof word == 2) return __builtin_bswap16(word);
  if constexpr (sizeof word == 4) return __builtin_bswap32(word);
  if constexpr (sizeof word == 8) return __builtin_bswap64(word);
}

template <class Word>
void reverse_each(std::span<std::byte> numbers) {
  for (; numbers.size() >= sizeof(Word); numbers = numbers.subspan(sizeof(Word))) {
    Word word;
    std::memcpy(&word, numbers.data(), sizeof word);
    word = reversed(word);
    std::memcpy(numbers.data(), &word, sizeof word);
  }
}

void reverse(std::span<std::byte> numbers, std::size_t size) {
  switch (size) {
    case 1:
      return;
    case 2:
      return reverse_each<std::uint16_t>(numbers);
    case 4:
      return reverse_each<std::uint32_t>(numbers);
    case 8:
      return reverse_each<std::uint64_t>(numbers);
    default:
      for (; numbers.size() >= size; numbers = numbers.subspan(size)) {
        std::ranges::reverse(numbers.first(size));
      }
  }
}

/// Little-endian, both.
void extended_to_quad(std::byte* at) {
  const QuadDouble quad = quad_from(
      {.significand = load_number<std::uint64_t>(at), .head = load_number<std::uint16_t>(at + 8)});
  store_number(at, quad.low);
  store_number(at + 8, quad.high);
}

void quad_to_extended(std::byte* at) {
  const ExtendedDouble extended = extended_from(
      {.high = load_number<std::uint64_t>(at + 8), .low = load_number<std::uint64_t>(at)});
  store_number(at, extended.significand);
  store_number(at + 8, std::uint64_t{extended.head});
}

void change_long_doubles(std::span<std::byte> numbers, Format from, Format to) {
  using enum LongDouble;
  const bool changes =
      from.long_double != to.long_double && from.long_double != Other && to.long_double != Other;
  if (!changes) {
    if (from.order != to.order) reverse(numbers, kLongDoubleSize);
    return;
  }
  for (; numbers.size() >= kLongDoubleSize; numbers = numbers.subspan(kLongDoubleSize)) {
    const auto number = numbers.first(kLongDoubleSize);
    if (from.order == ByteOrder::Big) std::ranges::reverse(number);
    from.long_double == Extended ? extended_to_quad(number.data())
                                 : quad_to_extended(number.data());
    if (to.order == ByteOrder::Big) std::ranges::reverse(number);
  }
}

}  // namespace

Format own_format() {
  return {.order = std::endian::native == std::endian::little ? ByteOrder::Little : ByteOrder::Big,
          .long_double = sizeof(long double) != kLongDoubleSize ? LongDouble::Other
                         : LDBL_MANT_DIG == 64                  ? LongDouble::Extended
                         : LDBL_MANT_DIG == 113                 ? LongDouble::Quad
                                                                : LongDouble::Other};
}

void change_format(std::span<std::byte> numbers, int element, Format from, Format to) {
  if (element == kLongDoubleElement) return change_long_doubles(numbers, from, to);
  if (from.order != to.order) reverse(numbers, static_cast<std::size_t>(element));
}

void change_format(std::span<std::byte> packed, const TypeMap& map, Format from, Format to) {
  if (from == to || map.size() == 0) return;
  TypeCursor cursor(map, static_cast<std::int64_t>(packed.size()) / map.size() + 1);
  while (!packed.empty()) {
    const Piece piece = cursor.next(static_cast<std::int64_t>(packed.size()));
    if (piece.length == 0) return;
    const auto length = static_cast<std::size_t>(piece.length);
    change_format(packed.first(length), piece.element, from, to);
    packed = packed.subspan(length);
  }
}

}  // namespace isthmus::core
