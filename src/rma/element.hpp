// The elements of MPI's predefined datatypes, and its predefined operations, for accumulates, in a
// form that travels. Elements themselves are in the format of the target's memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isthmus::rma {

/// Kinds of numbers. The numbers of the enumerators go over the wire.
enum class Number : std::uint8_t {
  Raw,  ///< bytes that are replaced whole, without arithmetic
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F32,
  F64,
  Long,  ///< long double
  C32,   ///< complex: two F32, and so on
  C64,
  CLong,
};
inline constexpr std::uint8_t kNumbers = 15;

enum class Op : std::uint8_t {
  Replace,
  NoOp,
  Sum,
  Prod,
  Max,
  Min,
  LogicalAnd,
  LogicalOr,
  LogicalXor,
  BitAnd,
  BitOr,
  BitXor,
  MaxLoc,
  MinLoc,
};
inline constexpr std::uint8_t kOps = 14;

/// One element of a predefined datatype. A pair (MPI_DOUBLE_INT) has an index behind its value.
/// Packed, they have no gap between them; in memory they may have one.
struct Element {
  Number value = Number::Raw;
  Number index = Number::Raw;  ///< of a pair
  bool pair = false;
  std::uint32_t value_size = 1;    ///< bytes
  std::uint32_t index_size = 0;    ///< bytes; 0: no pair
  std::uint32_t index_offset = 0;  ///< in memory
  std::uint32_t extent = 1;        ///< in memory

  std::uint32_t packed() const { return value_size + index_size; }
  bool gapless() const { return packed() == extent; }
};

/// Bytes of a number; 0 for Raw, which has its own size.
std::size_t size_of(Number number);
/// A number by itself, a pair of numbers, or raw bytes.
Element plain(Number number);
Element pair_of(Number value, Number index, std::size_t index_offset, std::size_t extent);
Element raw(std::size_t size);
/// Checks that sizes and places fit the kinds: for elements from the wire.
bool sound(const Element& element);

/// Whether the operation can combine these elements.
bool combines(Op op, const Element& element);
/// Combines packed `operand`s into `count` elements in memory, `extent` apart. combines() holds.
void combine(Op op, const Element& element, std::byte* memory, const std::byte* operand,
             std::size_t count);
/// Copies `count` elements in memory into packed ones.
void pack(const Element& element, const std::byte* memory, std::byte* packed, std::size_t count);

}  // namespace isthmus::rma
