// Memory of another process of this host that the system lets this one read and write
// (process_vm_readv). The program and the I/O thread of neither side take part, and bytes are
// copied only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/datatype/type_map.hpp"

namespace isthmus::core {

class PeerMemory {
 public:
  /// A process's message to others about its memory. Holds no pointers.
  struct Address {
    std::int64_t pid = 0;
    std::uint64_t base = 0;
    std::uint64_t mark_at = 0;  ///< the address of `mark` in the process; no other process has that
                                ///< mark
    std::uint64_t mark[2] = {0, 0};
  };
  /// Gives the other processes of this user access to this one's memory, if the system needs that.
  static Address of_this_process(const void* base);
  /// Empty if this process cannot reach it: it is on another host, or not allowed to.
  static std::optional<PeerMemory> reach(const Address& address);

  /// The process of the address still runs, and this one may access it.
  [[nodiscard]] bool there() const;

  /// At the displacement from the base; with a map, at its places. False: the process is not
  /// `there` any more, or some of it is not the process's memory.
  [[nodiscard]] bool write(std::int64_t displacement, std::span<const std::byte> from) const;
  [[nodiscard]] bool write(std::int64_t displacement, TypeCursor to,
                           std::span<const std::byte> from) const;
  [[nodiscard]] bool read(std::int64_t displacement, std::span<std::byte> to) const;
  [[nodiscard]] bool read(std::int64_t displacement, TypeCursor from,
                          std::span<std::byte> to) const;

 private:
  enum class Way { Read, Write };
  explicit PeerMemory(const Address& address) : address_(address) {}
  bool move(Way way, std::int64_t displacement, std::byte* here, std::size_t size) const;
  bool move(Way way, std::int64_t displacement, TypeCursor& there, std::byte* here,
            std::size_t size) const;

  Address address_;
};

}  // namespace isthmus::core
