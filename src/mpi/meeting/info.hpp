// What an MPI_Info says.
#pragma once

#include <optional>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Nothing where it has no such key. Not for MPI_INFO_NULL.
std::optional<std::string> value_of(MPI_Info info, const char* key);

}  // namespace isthmus::face
