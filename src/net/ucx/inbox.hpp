// Bytes of a stream that have come in pieces and wait to be read. A piece says where in the stream
// it belongs, because UCX keeps no order between messages. The sender stays within the window.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace isthmus::net::ucx {

class Inbox {
 public:
  explicit Inbox(std::size_t window)
      : window_(window), bytes_(std::make_unique_for_overwrite<std::byte[]>(window)) {}

  /// False: the piece is outside of the window, or there already; nothing more can be trusted.
  bool put(std::uint64_t at, std::span<const std::byte> piece);
  /// Reads as much as there is, in order.
  std::size_t read(std::span<const iovec> into);
  bool filled() const { return arrived_ != read_; }

  std::uint64_t arrived() const { return arrived_; }  ///< all before this has come
  std::uint64_t read_so_far() const { return read_; }
  std::size_t window() const { return window_; }

 private:
  static constexpr std::size_t kMostGaps = 64;

  std::size_t window_;
  std::unique_ptr<std::byte[]> bytes_;  // a ring: byte n of the stream is at n % window_
  std::uint64_t read_ = 0, arrived_ = 0;
  std::map<std::uint64_t, std::uint64_t> early_;  // pieces behind a gap: first byte, end
};

}  // namespace isthmus::net::ucx
