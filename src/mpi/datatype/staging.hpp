// Elements in the memory of a GPU, as packed bytes in memory of the host. All functions throw
// MpiError, as DeviceCopies does.
#pragma once

#include <cstddef>
#include <span>

#include "mpi/native/native.hpp"
#include "mpi/native/pinned_pool.hpp"

namespace isthmus::face {

/// Memory of the host for bytes from or to the device that has an address. Pinned, if large.
PinnedPool::Memory staging_memory(const void* on_device, std::size_t bytes);

/// Packs `count` elements into `out`, which they fill.
void pack_from_device(const void* buffer, MPI_Count count, MPI_Datatype type,
                      std::span<std::byte> out);

}  // namespace isthmus::face
