// The native MPI library under the face: its types and constants (from the mpi.h of this face's
// ABI) and its functions. A table, filled when the face is opened, holds the functions. The face is
// linked to no libmpi: every call to the native library goes through `native`.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <type_traits>

#include "native_table.hpp"  // generated: struct Native, one member per function in mpi.h

namespace isthmus::face {

/// native.Send is the library's PMPI_Send, and so on; null if the library lacks a function that our
/// mpi.h has. Defined in native.cpp.
extern Native native;

/// A handle as a table key: Open MPI's and the standard ABI's are pointers, MPICH's are ints.
template <class Handle>
std::uintptr_t key(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uintptr_t>(static_cast<unsigned>(handle));
  }
}

}  // namespace isthmus::face
