#include "rma/element.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

namespace isthmus::rma {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

// Calls `use` with a value of the number's type.
template <class Use>
auto with(Number number, Use&& use) {
  switch (number) {
    case Number::I8:
      return use(std::int8_t{});
    case Number::I16:
      return use(std::int16_t{});
    case Number::I32:
      return use(std::int32_t{});
    case Number::I64:
      return use(std::int64_t{});
    case Number::U16:
      return use(std::uint16_t{});
    case Number::U32:
      return use(std::uint32_t{});
    case Number::U64:
      return use(std::uint64_t{});
    case Number::F32:
      return use(float{});
    case Number::F64:
      return use(double{});
    case Number::Long:
      return use(0.0L);
    case Number::C32:
      return use(std::complex<float>{});
    case Number::C64:
      return use(std::complex<double>{});
    case Number::CLong:
      return use(std::complex<long double>{});
    case Number::Raw:
    case Number::U8:
      break;
  }
  return use(std::uint8_t{});
}

template <class T>
constexpr bool kComplex = false;
template <class T>
constexpr bool kComplex<std::complex<T>> = true;

// Sums and products of integers wrap around, as they do in native libraries.
template <class T, class F>
T wrapped(T a, T b, F&& f) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return f(a, b);
  }
}

// A loop of its own for each operation and type: the compiler makes vectors of it.
template <class T, class F>
void each(std::byte* memory, const std::byte* operand, std::size_t count, F&& f) {
  for (std::size_t i = 0; i < count * sizeof(T); i += sizeof(T)) {
    store(memory + i, static_cast<T>(f(load<T>(memory + i), load<T>(operand + i))));
  }
}

template <class T>
void combine_all(Op op, std::byte* memory, const std::byte* operand, std::size_t count) {
  const auto all = [&](auto&& f) { each<T>(memory, operand, count, f); };
  switch (op) {
    case Op::Sum:
      return all([](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); });
    case Op::Prod:
      return all([](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x * y; }); });
    default:
      break;
  }
  if constexpr (!kComplex<T>) {
    switch (op) {
      case Op::Max:
        return all([](T a, T b) { return std::max(a, b); });
      case Op::Min:
        return all([](T a, T b) { return std::min(a, b); });
      case Op::LogicalAnd:
        return all([](T a, T b) { return a != T{} && b != T{}; });
      case Op::LogicalOr:
        return all([](T a, T b) { return a != T{} || b != T{}; });
      case Op::LogicalXor:
        return all([](T a, T b) { return (a != T{}) != (b != T{}); });
      default:
        break;
    }
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case Op::BitAnd:
        return all([](T a, T b) { return a & b; });
      case Op::BitOr:
        return all([](T a, T b) { return a | b; });
      case Op::BitXor:
        return all([](T a, T b) { return a ^ b; });
      default:
        break;
    }
  }
}

void combine_numbers(Op op, Number number, std::byte* memory, const std::byte* operand,
                     std::size_t count) {
  with(number, [&](auto zero) { combine_all<decltype(zero)>(op, memory, operand, count); });
}

// MPI-4.1 section 6.9.4: of equal values the lower index.
void combine_pair(Op op, const Element& e, std::byte* memory, const std::byte* operand) {
  const bool takes = with(e.value, [&](auto zero) -> bool {
    using T = decltype(zero);
    if constexpr (kComplex<T>) {
      return false;
    } else {
      const T a = load<T>(memory), b = load<T>(operand);
      if (a != b) return op == Op::MaxLoc ? a < b : b < a;
      return with(e.index, [&](auto none) -> bool {
        using I = decltype(none);
        if constexpr (kComplex<I>) {
          return false;
        } else {
          return load<I>(operand + e.value_size) < load<I>(memory + e.index_offset);
        }
      });
    }
  });
  if (!takes) return;
  std::memcpy(memory, operand, e.value_size);
  std::memcpy(memory + e.index_offset, operand + e.value_size, e.index_size);
}

bool is_complex(Number number) { return number >= Number::C32; }
bool is_integer(Number number) { return number >= Number::I8 && number <= Number::U64; }

}  // namespace

std::size_t size_of(Number number) {
  if (number == Number::Raw) return 0;
  return with(number, [](auto zero) { return sizeof zero; });
}

Element plain(Number number) {
  const auto size = static_cast<std::uint32_t>(size_of(number));
  return {.value = number, .value_size = size, .extent = size};
}

Element pair_of(Number value, Number index, std::size_t index_offset, std::size_t extent) {
  return {.value = value,
          .index = index,
          .pair = true,
          .value_size = static_cast<std::uint32_t>(size_of(value)),
          .index_size = static_cast<std::uint32_t>(size_of(index)),
          .index_offset = static_cast<std::uint32_t>(index_offset),
          .extent = static_cast<std::uint32_t>(extent)};
}

Element raw(std::size_t size) {
  return {.value_size = static_cast<std::uint32_t>(size),
          .extent = static_cast<std::uint32_t>(size)};
}

bool sound(const Element& e) {
  constexpr std::uint32_t kMost = 256;
  if (e.value_size == 0 || e.value_size > kMost || e.extent > kMost) return false;
  if (e.value != Number::Raw && e.value_size != size_of(e.value)) return false;
  if (!e.pair) return e.index == Number::Raw && e.index_size == 0 && e.extent == e.value_size;
  return e.value != Number::Raw && !is_complex(e.value) && e.index != Number::Raw &&
         !is_complex(e.index) && e.index_size == size_of(e.index) &&
         e.index_offset >= e.value_size && e.index_offset <= kMost &&
         e.extent >= e.index_offset + e.index_size;
}

bool combines(Op op, const Element& e) {
  switch (op) {
    case Op::Replace:
    case Op::NoOp:
      return true;
    case Op::MaxLoc:
    case Op::MinLoc:
      return e.pair;
    case Op::Sum:
    case Op::Prod:
      return !e.pair && e.value != Number::Raw;
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
      return !e.pair && is_integer(e.value);
    default:
      return !e.pair && e.value != Number::Raw && !is_complex(e.value);
  }
}

void combine(Op op, const Element& e, std::byte* memory, const std::byte* operand,
             std::size_t count) {
  if (op == Op::NoOp || count == 0) return;
  if (op == Op::Replace) {
    if (e.gapless()) {
      std::memcpy(memory, operand, count * e.extent);
      return;
    }
    for (std::size_t i = 0; i < count; ++i, memory += e.extent, operand += e.packed()) {
      std::memcpy(memory, operand, e.value_size);
      std::memcpy(memory + e.index_offset, operand + e.value_size, e.index_size);
    }
  } else if (e.pair) {
    for (std::size_t i = 0; i < count; ++i, memory += e.extent, operand += e.packed()) {
      combine_pair(op, e, memory, operand);
    }
  } else {
    combine_numbers(op, e.value, memory, operand, count);
  }
}

void pack(const Element& e, const std::byte* memory, std::byte* packed, std::size_t count) {
  if (e.gapless()) {
    if (count > 0) std::memcpy(packed, memory, count * e.extent);
    return;
  }
  for (std::size_t i = 0; i < count; ++i, memory += e.extent, packed += e.packed()) {
    std::memcpy(packed, memory, e.value_size);
    std::memcpy(packed + e.value_size, memory + e.index_offset, e.index_size);
  }
}

}  // namespace isthmus::rma
