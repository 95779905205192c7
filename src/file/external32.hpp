// The representation external32 of files (MPI-4.1 section 14.5.2): big endian, each basic element
// of the standard's size, for any size in memory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/datatype/type_map.hpp"

namespace isthmus::file {

// Values of core::Piece::element in the map of a datatype's memory: a number of bytes in another
// order, or one of these, which have other sizes there.
inline constexpr int kLong = 65, kUnsignedLong = 66;  ///< 4 bytes
inline constexpr int kWideCharacter = 67;             ///< 2 bytes
inline constexpr int kExtendedDouble = 68;            ///< x86's long double: 16 bytes of binary128

std::int64_t in_memory(int element);
std::int64_t in_external32(int element);

/// Writes the elements from the cursor on to all of `file`, which holds whole elements.
void to_external32(core::TypeCursor& cursor, const std::byte* memory, std::span<std::byte> file);
/// Reads the elements that `file` has whole. Returns their bytes in memory.
std::size_t from_external32(core::TypeCursor& cursor, std::span<const std::byte> file,
                            std::byte* memory);

}  // namespace isthmus::file
