#include "compress/words.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/little_endian.hpp"

namespace isthmus::compress {
namespace {

// A width that the compiler knows: it makes vector code of the loops.
template <std::size_t Width, bool Spread>
void move_words(const std::byte* from, std::byte* to, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) {
    for (std::size_t k = 0; k < Width; ++k) {
      if constexpr (Spread) {
        to[k * words + i] = from[i * Width + k];
      } else {
        to[i * Width + k] = from[k * words + i];
      }
    }
  }
}

template <bool Spread>
void move(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to) {
  const std::size_t words = from.size() / width;
  if (width == 4) move_words<4, Spread>(from.data(), to.data(), words);
  if (width == 8) move_words<8, Spread>(from.data(), to.data(), words);
  const std::size_t done = width == 4 || width == 8 ? words * width : 0;
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(done), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(done));
}

template <class Word>
void bend(const std::byte* from, std::byte* to, std::size_t words) {
  Word last = 0, slope = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const auto word = core::load_number<Word>(from + i * sizeof(Word));
    const auto next = static_cast<Word>(word - last);
    const auto bent = static_cast<Word>(next - slope);
    core::store_number(to + i * sizeof(Word), bent);
    last = word;
    slope = next;
  }
}

template <class Word>
void unbend(std::byte* at, std::size_t words) {
  Word last = 0, slope = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const auto bent = core::load_number<Word>(at + i * sizeof(Word));
    slope = static_cast<Word>(slope + bent);
    last = static_cast<Word>(last + slope);
    core::store_number(at + i * sizeof(Word), last);
  }
}

}  // namespace

void spread_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to) {
  move<true>(from, width, to);
}

void gather_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to) {
  move<false>(from, width, to);
}

void bend_words(std::span<const std::byte> from, std::size_t width, std::span<std::byte> to) {
  const std::size_t words = from.size() / width, done = words * width;
  if (width == 4) bend<std::uint32_t>(from.data(), to.data(), words);
  if (width == 8) bend<std::uint64_t>(from.data(), to.data(), words);
  if (from.size() > done) std::memcpy(to.data() + done, from.data() + done, from.size() - done);
}

void unbend_words(std::span<std::byte> words, std::size_t width) {
  if (width == 4) unbend<std::uint32_t>(words.data(), words.size() / width);
  if (width == 8) unbend<std::uint64_t>(words.data(), words.size() / width);
}

}  // namespace isthmus::compress
