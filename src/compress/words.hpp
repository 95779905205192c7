// Bytes sorted by their place in words.
#pragma once

#include <cstddef>
#include <span>

namespace isthmus::compress {

/// Writes the first byte of each word of `width` bytes, then the second of each, and so on; the
/// rest stands unchanged at the end. `to` has the size of `from`.
void spread_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to);
/// The other way round.
void gather_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to);

/// Writes the second differences of words of `width` bytes, as unsigned numbers that wrap; the rest
/// stays unchanged. `to` has the size of `from`.
void bend_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to);
/// The other way round, in place.
void unbend_words(std::span<std::byte> words, std::size_t width);

}  // namespace isthmus::compress
