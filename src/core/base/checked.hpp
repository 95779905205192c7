// Arithmetic on bytes of datatypes: the numbers are the program's and may overflow.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace isthmus::core {

/// `out` is the product; false: it overflows.
inline bool times(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
/// The same, of the sum.
inline bool plus(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}

/// Refuses a datatype that does not fit into a map.
[[noreturn]] inline void too_large() {
  throw std::length_error(
      "a datatype reaches over more bytes, or has more parts, than Isthmus can describe");
}

}  // namespace isthmus::core
