#include "net/ucx/inbox.hpp"

#include <algorithm>
#include <cstring>

namespace isthmus::net::ucx {

bool Inbox::put(std::uint64_t at, std::span<const std::byte> piece) {
  if (piece.empty()) return true;
  if (at < arrived_ || at - read_ > window_ || piece.size() > window_ - (at - read_)) return false;
  const std::uint64_t end = at + piece.size();
  if (at != arrived_ || !early_.empty()) {
    const auto next = early_.lower_bound(at);
    if (next != early_.end() && next->first < end) return false;
    if (next != early_.begin() && std::prev(next)->second > at) return false;
    if (early_.size() == kMostGaps) return false;
    early_.emplace_hint(next, at, end);
  }
  const std::size_t place = at % window_;
  const std::size_t first = std::min(piece.size(), window_ - place);
  std::memcpy(bytes_.get() + place, piece.data(), first);
  if (first < piece.size()) {
    std::memcpy(bytes_.get(), piece.data() + first, piece.size() - first);
  }
  if (early_.empty()) arrived_ = end;
  while (!early_.empty() && early_.begin()->first == arrived_) {
    arrived_ = early_.begin()->second;
    early_.erase(early_.begin());
  }
  return true;
}

std::size_t Inbox::read(std::span<const iovec> into) {
  std::size_t moved = 0;
  for (const iovec& part : into) {
    auto* to = static_cast<std::byte*>(part.iov_base);
    std::size_t left = std::min<std::uint64_t>(part.iov_len, arrived_ - read_);
    while (left > 0) {
      const std::size_t place = read_ % window_;
      const std::size_t n = std::min(left, window_ - place);
      std::memcpy(to, bytes_.get() + place, n);
      to += n;
      left -= n;
      read_ += n;
      moved += n;
    }
  }
  return moved;
}

}  // namespace isthmus::net::ucx
