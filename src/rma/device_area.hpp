// The effect of records on memory of a device. All functions throw as DeviceCopies does.
#pragma once

#include <cstddef>
#include <span>

#include "rma/combining.hpp"
#include "rma/device.hpp"

namespace isthmus::rma {

/// `data` stays as it is until the copies end.
void write_device(DeviceCopies& copies, const Elements& there, std::span<const std::byte> data);
/// All are in `into` afterwards. Bytes between the elements may be read: the device has them, too.
void read_device(DeviceCopies& copies, const Elements& there, std::span<std::byte> into);
/// As combine_there, computed on the host. The caller is alone.
[[nodiscard]] bool combine_device(DeviceCopies& copies, const Elements& there,
                                  const Combination& how, std::span<const std::byte> data,
                                  std::span<std::byte> before);
/// As swap_there.
void swap_device(DeviceCopies& copies, std::byte* memory, std::span<const std::byte> expected,
                 std::span<const std::byte> wanted, std::span<std::byte> before);

}  // namespace isthmus::rma
