#include "file/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/datatype/long_double.hpp"

namespace isthmus::file {
namespace {

template <class Word>
Word load(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
template <class Word>
void store(std::byte* to, Word word) {
  std::memcpy(to, &word, sizeof word);
}

constexpr bool kReverses = std::endian::native == std::endian::little;

/// Between this host's order and big-endian.
std::uint16_t reversed(std::uint16_t word) { return kReverses ? __builtin_bswap16(word) : word; }
std::uint32_t reversed(std::uint32_t word) { return kReverses ? __builtin_bswap32(word) : word; }
std::uint64_t reversed(std::uint64_t word) { return kReverses ? __builtin_bswap64(word) : word; }

template <class Word>
void reverse(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    store(to + i * sizeof(Word), reversed(load<Word>(from + i * sizeof(Word))));
  }
}

/// Both ways.
void reverse_each(int size, const std::byte* from, std::byte* to, std::size_t count) {
  const auto bytes = static_cast<std::size_t>(size);
  switch (kReverses ? size : 1) {
    case 1:
      std::memcpy(to, from, count * bytes);
      return;
    case 2:
      return reverse<std::uint16_t>(from, to, count);
    case 4:
      return reverse<std::uint32_t>(from, to, count);
    case 8:
      return reverse<std::uint64_t>(from, to, count);
    default:
      for (std::size_t i = 0; i < count; ++i) {
        std::reverse_copy(from + i * bytes, from + (i + 1) * bytes, to + i * bytes);
      }
  }
}

void extended_to_file(const std::byte* from, std::byte* to) {
  const auto quad = core::quad_from(
      {.significand = load<std::uint64_t>(from), .head = load<std::uint16_t>(from + 8)});
  store(to, reversed(quad.high));
  store(to + 8, reversed(quad.low));
}

void extended_to_memory(const std::byte* from, std::byte* to) {
  const auto extended = core::extended_from({.high = reversed(load<std::uint64_t>(from)),
                                             .low = reversed(load<std::uint64_t>(from + 8))});
  store(to, extended.significand);
  store(to + 8, std::uint64_t{extended.head});
}

void write_one(int element, const std::byte* memory, std::byte* file) {
  switch (element) {
    case kLong:
    case kUnsignedLong:
      return store(file, reversed(static_cast<std::uint32_t>(load<std::uint64_t>(memory))));
    case kWideCharacter:
      return store(file, reversed(static_cast<std::uint16_t>(load<std::uint32_t>(memory))));
    default:
      return extended_to_file(memory, file);
  }
}

void read_one(int element, const std::byte* file, std::byte* memory) {
  switch (element) {
    case kLong: {
      const auto value = static_cast<std::int32_t>(reversed(load<std::uint32_t>(file)));
      return store(memory, std::int64_t{value});
    }
    case kUnsignedLong:
      return store(memory, std::uint64_t{reversed(load<std::uint32_t>(file))});
    case kWideCharacter:
      return store(memory, std::uint32_t{reversed(load<std::uint16_t>(file))});
    default:
      return extended_to_memory(file, memory);
  }
}

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::int64_t in_memory(int element) {
  switch (element) {
    case kLong:
    case kUnsignedLong:
      return 8;
    case kWideCharacter:
      return 4;
    case kExtendedDouble:
      return 16;
    default:
      return element;
  }
}

std::int64_t in_external32(int element) {
  switch (element) {
    case kLong:
    case kUnsignedLong:
      return 4;
    case kWideCharacter:
      return 2;
    default:
      return in_memory(element);
  }
}

void to_external32(core::TypeCursor& cursor, const std::byte* memory, std::span<std::byte> file) {
  while (!file.empty()) {
    const core::Piece piece = cursor.next(kAll);
    if (piece.length == 0) return;
    const auto here = static_cast<std::size_t>(in_memory(piece.element));
    const auto there = static_cast<std::size_t>(in_external32(piece.element));
    const std::size_t count =
        std::min(static_cast<std::size_t>(piece.length) / here, file.size() / there);
    const std::byte* const from = memory + piece.offset;
    if (piece.element < kLong) {
      reverse_each(piece.element, from, file.data(), count);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        write_one(piece.element, from + i * here, file.data() + i * there);
      }
    }
    file = file.subspan(count * there);
  }
}

std::size_t from_external32(core::TypeCursor& cursor, std::span<const std::byte> file,
                            std::byte* memory) {
  std::size_t done = 0;
  for (;;) {
    const core::Piece piece = cursor.next(kAll);
    if (piece.length == 0) return done;
    const auto here = static_cast<std::size_t>(in_memory(piece.element));
    const auto there = static_cast<std::size_t>(in_external32(piece.element));
    const std::size_t wanted = static_cast<std::size_t>(piece.length) / here;
    const std::size_t count = std::min(wanted, file.size() / there);
    std::byte* const to = memory + piece.offset;
    if (piece.element < kLong) {
      reverse_each(piece.element, file.data(), to, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        read_one(piece.element, file.data() + i * there, to + i * here);
      }
    }
    file = file.subspan(count * there);
    done += count * here;
    if (count < wanted) return done;
  }
}

}  // namespace isthmus::file
