#include "net/stream/tls_buffer.hpp"

#include <cstring>
#include <utility>

namespace isthmus::net {
namespace {

constexpr unsigned kSmallUses = 32;  // behind which a buffer gives memory back

}  // namespace

void TlsBuffer::compact() {
  if (begin == 0) return;
  if (size() > 0) std::memmove(data.data(), data.data() + begin, size());
  end -= std::exchange(begin, 0);
}

std::byte* TlsBuffer::room(std::size_t bytes) {
  if (end + bytes > data.size()) data.resize(end + bytes);
  return data.data() + end;
}

void TlsBuffer::used(std::size_t bytes) {
  small = bytes > kFirst ? 0 : small + 1;
  if (small < kSmallUses || data.size() <= kFirst) return;
  data = std::vector<std::byte>(kFirst);
}

}  // namespace isthmus::net
