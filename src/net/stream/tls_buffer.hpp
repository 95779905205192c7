// Bytes of one direction of a TlsStream that have not been used.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace isthmus::net {

struct TlsBuffer {
  /// It never gives less memory back than this.
  static constexpr std::size_t kFirst = std::size_t{32} * 1024;

  std::vector<std::byte> data;
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  std::span<std::byte> bytes() { return std::span(data).subspan(begin, size()); }
  void compact();
  /// Room for this many bytes behind them.
  std::byte* room(std::size_t bytes);
  /// It is empty, and has held this many bytes. Gives memory back after many small uses in a row.
  void used(std::size_t bytes);

  unsigned small = 0;  ///< uses in a row
};

}  // namespace isthmus::net
