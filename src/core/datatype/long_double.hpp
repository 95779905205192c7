// The two formats of a `long double` in 16 bytes: x86's extended double, and IEEE's binary128. Both
// have a sign and 15 bits of exponent, so every extended double is also a binary128. Pure.
#pragma once

#include <cstdint>

namespace isthmus::core {

/// x86's: 64 bits with the integer bit first, and 6 bytes without meaning.
struct ExtendedDouble {
  std::uint64_t significand = 0;
  std::uint16_t head = 0;  ///< sign and exponent
  bool operator==(const ExtendedDouble&) const = default;
};

/// binary128: sign, exponent and 48 bits of fraction, then 64 bits of fraction.
struct QuadDouble {
  std::uint64_t high = 0, low = 0;
  bool operator==(const QuadDouble&) const = default;
};

/// Exact. Patterns that x86 takes for invalid become a NaN.
QuadDouble quad_from(ExtendedDouble value);
/// To the nearest, or the even one of two. A number beyond the largest becomes infinity. A NaN
/// keeps the first bits of its payload.
ExtendedDouble extended_from(QuadDouble value);

}  // namespace isthmus::core
