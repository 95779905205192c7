// The memory that a process exposes in a window, and the part that others may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace isthmus::rma {

/// A region is read and written by the CPU, or only by a device (rma/device.hpp).
enum class Reach { Cpu, Device };

class Memory {
 public:
  /// One region; displacements count from its beginning.
  static Memory fixed(void* base, std::size_t size, Reach reach = Reach::Cpu);
  /// Regions that come and go; displacements are addresses.
  static Memory dynamic() { return {}; }

  /// False: it overlaps a present region, or (detach) no region begins there.
  bool attach(const void* base, std::size_t size, Reach reach = Reach::Cpu);
  bool detach(const void* base);

  /// The memory at `displacement`, if the bytes from `low` up to `high` from there are exposed;
  /// else null. They may span regions that touch, but none of a device. Zero bytes may be
  /// anywhere.
  std::byte* find(std::int64_t displacement, std::int64_t low, std::int64_t high) const;
  /// The beginning of the region of a device that has the byte `low` behind `displacement`. Null:
  /// none has.
  const std::byte* device(std::int64_t displacement, std::int64_t low) const;
  bool has_device() const { return devices_ > 0; }

 private:
  struct Region {
    std::size_t size;
    Reach reach;
  };
  bool exposes(std::uintptr_t first, std::uintptr_t size) const;

  std::uintptr_t origin_ = 0;
  std::map<std::uintptr_t, Region> regions_;
  std::size_t devices_ = 0;  // regions of devices
};

}  // namespace isthmus::rma
