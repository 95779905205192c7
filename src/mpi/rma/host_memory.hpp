// Memory that this process allocates for a window. Other processes of its cluster on its host have
// it mapped: for them a put or get is a copy (docs/decisions/0033).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/shm/shared_memory.hpp"
#include "rma/turn.hpp"

namespace isthmus::face {

class HostMemory {
 public:
  /// A process's message to others about its memory; a pid of 0: it has none. Holds no pointers.
  struct Address {
    std::int64_t pid = 0;
    std::int64_t file = -1;
    std::uint64_t size = 0;
    std::uint64_t mark[2] = {0, 0};  ///< which no other memory ends with
  };
  /// All zeros. Empty if the system has not enough memory.
  static std::optional<HostMemory> make(std::size_t size);
  /// Empty if this process cannot reach it: it is on another host, or not allowed to. Not after the
  /// other one's close().
  static std::optional<HostMemory> reach(const Address& address);

  [[nodiscard]] Address address() const;
  [[nodiscard]] std::byte* base() const { return memory_.bytes().data(); }
  /// The turn for combining in it: of this process for others, and of those that have reached it.
  [[nodiscard]] rma::Turn* turn() const;
  /// Closes the file that others open, once all of them have done so.
  void close() { memory_.close_file(); }

 private:
  HostMemory(net::SharedMemory memory, std::size_t size)
      : memory_(std::move(memory)), size_(size) {}

  net::SharedMemory memory_;
  std::size_t size_;
};

}  // namespace isthmus::face
