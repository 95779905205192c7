// Where elements lie in memory, as runs of bytes that follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/datatype/type_map.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Goes over `count` elements once, from the first to the last.
class MemoryRuns {
 public:
  /// Throws MpiError.
  MemoryRuns(const void* buffer, MPI_Count count, MPI_Datatype type);

  /// The first byte of the elements.
  std::byte* first() const { return first_; }
  /// Packed bytes that have been passed.
  std::size_t at() const { return at_; }

  /// Calls `each(first byte in memory, offset in the packed bytes, length)` for the runs that hold
  /// the packed bytes from at() to `end`.
  template <class Each>
  void pass(std::size_t end, const Each& each) {
    if (!cursor_) {
      if (end > at_) each(first_ + at_, at_, end - at_);
      at_ = end;
      return;
    }
    std::byte* begin = nullptr;
    std::size_t length = 0;
    while (at_ + length < end) {
      const core::Piece piece = cursor_->next(static_cast<std::int64_t>(end - at_ - length));
      if (piece.length == 0) break;
      std::byte* const place = address(buffer_, piece.offset);
      if (length > 0 && place != begin + length) {
        each(begin, at_, length);
        at_ += length;
        length = 0;
      }
      if (length == 0) begin = place;
      length += static_cast<std::size_t>(piece.length);
    }
    if (length > 0) each(begin, at_, length);
    at_ += length;
  }

 private:
  static std::byte* address(const void* buffer, std::int64_t offset) {
    // Through integers: MPI_BOTTOM plus an address is an address.
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                        static_cast<std::uintptr_t>(offset));
  }

  const void* const buffer_;
  std::byte* first_ = nullptr;
  TypeMapRef map_;  // null: they are one run
  std::optional<core::TypeCursor> cursor_;
  std::size_t at_ = 0;
};

}  // namespace isthmus::face
