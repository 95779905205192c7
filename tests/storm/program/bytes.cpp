#include "bytes.hpp"

#include <algorithm>
#include <cstring>

namespace storm {

namespace {
// Eight bytes at a time where they are whole; `visit(offset, bytes, count)` ends it by true.
template <class Visit>
void in_words(std::size_t size, std::uint64_t key, std::size_t at, Visit visit) {
  for (std::size_t done = 0; done < size;) {
    const std::size_t within = (at + done) % 8;
    const std::size_t count = std::min(8 - within, size - done);
    const std::uint64_t word = mixed(key + (at + done) / 8) >> (within * 8);
    if (visit(done, word, count)) return;
    done += count;
  }
}
}  // namespace

void fill(std::span<unsigned char> bytes, std::uint64_t key, std::size_t at) {
  in_words(bytes.size(), key, at, [&](std::size_t done, std::uint64_t word, std::size_t count) {
    std::memcpy(bytes.data() + done, &word, count);  // little-endian, as `pattern` is
    return false;
  });
}

std::size_t first_wrong(std::span<const unsigned char> bytes, std::uint64_t key, std::size_t at) {
  std::size_t wrong = bytes.size();
  in_words(bytes.size(), key, at, [&](std::size_t done, std::uint64_t word, std::size_t count) {
    if (std::memcmp(bytes.data() + done, &word, count) == 0) return false;
    wrong = done;
    while (bytes[wrong] == pattern(key, at + wrong)) ++wrong;
    return true;
  });
  return wrong;
}

void Bytes::spoil() const {
  const std::size_t tail = std::min<std::size_t>(size_, 64);
  std::memset(bytes_.get() + size_ - tail, 0xee, tail);
  std::memset(bytes_.get(), 0xee, size_ - tail);
}

}  // namespace storm
