// The memory that a process exposes in a window, and the part that others may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace isthmus::rma {

class Memory {
 public:
  /// One region; displacements count from its beginning.
  static Memory fixed(void* base, std::size_t size);
  /// Regions that come and go; displacements are addresses.
  static Memory dynamic() { return {}; }

  /// False: it overlaps a present region, or (detach) no region begins there.
  bool attach(const void* base, std::size_t size);
  bool detach(const void* base);

  /// The memory at `displacement`, if the bytes from `low` up to `high` from there are exposed;
  /// else null. They may span regions that touch. Zero bytes may be anywhere.
  std::byte* find(std::int64_t displacement, std::int64_t low, std::int64_t high) const;

 private:
  bool exposes(std::uintptr_t first, std::uintptr_t size) const;

  std::uintptr_t origin_ = 0;
  std::map<std::uintptr_t, std::size_t> regions_;
};

}  // namespace isthmus::rma
