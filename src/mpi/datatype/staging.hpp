// Elements in the memory of a GPU, as packed bytes in memory of the host. All functions throw
// MpiError, as DeviceCopies does.
#pragma once

#include <cstddef>
#include <span>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Packs `count` elements into `out`, which they fill.
void pack_from_device(const void* buffer, MPI_Count count, MPI_Datatype type,
                      std::span<std::byte> out);
/// Unpacks `in`, which may end within an element. Bytes between the data stay as they are.
void unpack_to_device(std::span<const std::byte> in, void* buffer, MPI_Count count,
                      MPI_Datatype type);

}  // namespace isthmus::face
