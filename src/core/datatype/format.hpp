// The formats in which processors hold the elements of datatypes, and changes from one to another.
// All formats give an element the same size, so data changes in place. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/datatype/type_map.hpp"

namespace isthmus::core {

enum class ByteOrder : std::uint8_t { Little, Big };
/// Other: it can only be copied.
enum class LongDouble : std::uint8_t { Extended, Quad, Other };

struct Format {
  ByteOrder order = ByteOrder::Little;
  LongDouble long_double = LongDouble::Quad;
  bool operator==(const Format&) const = default;
};

/// That of this build.
Format own_format();
/// In which data crosses between clusters of different formats. Each of the others can be changed
/// into it without loss.
inline constexpr Format kCommonFormat{};

/// The value of Piece::element for a `long double` of 16 bytes, or one of the two of a complex
/// number. All other values are sizes of numbers.
inline constexpr int kLongDoubleElement = 80;

/// Changes numbers that lie one after the other. Bytes behind the last whole one stay.
void change_format(std::span<std::byte> numbers, int element, Format from, Format to);
/// The same for packed elements of a map whose pieces have elements as above. `packed` may end
/// within an element.
void change_format(std::span<std::byte> packed, const TypeMap& map, Format from, Format to);

}  // namespace isthmus::core
