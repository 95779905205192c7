#include "core/datatype/long_double.hpp"

namespace isthmus::core {
namespace {

constexpr std::uint16_t kSign = 0x8000, kExponent = 0x7fff;
constexpr std::uint64_t kIntegerBit = std::uint64_t{1} << 63;
constexpr std::uint64_t kQuietBit = kIntegerBit >> 1;  // the first of the fraction
// The fraction of an extended double has 63 bits: 48 of them are in a quad's first word.
constexpr int kInHigh = 48, kInLow = 63 - kInHigh, kLost = 64 - kInLow;

}  // namespace

QuadDouble quad_from(ExtendedDouble value) {
  auto exponent = static_cast<std::uint16_t>(value.head & kExponent);
  const bool whole = (value.significand & kIntegerBit) != 0;
  std::uint64_t fraction = value.significand & ~kIntegerBit;
  if (exponent == 0) {
    exponent = whole ? 1 : 0;
  } else if (!whole) {  // x86 has no meaning for it
    exponent = kExponent;
    fraction = kQuietBit;
  }
  const auto head = static_cast<std::uint64_t>((value.head & kSign) | exponent);
  return {.high = head << kInHigh | fraction >> kInLow, .low = fraction << kLost};
}

ExtendedDouble extended_from(QuadDouble value) {
  const auto head = static_cast<std::uint16_t>(value.high >> kInHigh);
  const auto exponent = static_cast<std::uint16_t>(head & kExponent);
  const std::uint64_t high = value.high & ((std::uint64_t{1} << kInHigh) - 1);
  const std::uint64_t fraction = high << kInLow | value.low >> kLost;
  if (exponent == kExponent) {
    const bool infinite = high == 0 && value.low == 0;
    const std::uint64_t payload = infinite || fraction != 0 ? fraction : kQuietBit;
    return {.significand = kIntegerBit | payload, .head = head};
  }
  ExtendedDouble rounded{.significand = fraction | (exponent == 0 ? 0 : kIntegerBit), .head = head};
  const std::uint64_t lost = value.low << kInLow;  // its first bit is half of the last place
  const bool up = lost > kIntegerBit || (lost == kIntegerBit && (fraction & 1) != 0);
  if (!up) return rounded;
  if (++rounded.significand == 0) {
    rounded.significand = kIntegerBit;
    ++rounded.head;  // from the largest to infinity, too
  } else if (exponent == 0 && rounded.significand == kIntegerBit) {
    ++rounded.head;  // the smallest that is normal
  }
  return rounded;
}

}  // namespace isthmus::core
