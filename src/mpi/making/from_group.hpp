// MPI_Comm_create_from_group of the native library.
#pragma once

#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

inline constexpr const char* kNotMadeNatively =
    "the native MPI library could not make its part of the communicator from the group";

/// The communicator of a native group, of the session that the group is of natively; errors return.
/// Only if the native library gives sessions buffers. Collective over the group, with a tag of its
/// own. Returns a native error code, which has not been raised.
int native_from_group(MPI_Group group, const std::string& tag, MPI_Comm* result);

}  // namespace isthmus::face
