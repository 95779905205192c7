// Reads values of an MPI_Info.
#pragma once

#include <optional>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Empty without the key. Not for MPI_INFO_NULL.
std::optional<std::string> value_of(MPI_Info info, const char* key);

/// Seconds to wait, by the key that MPICH has for MPI_Comm_connect, too; raises MPI_ERR_INFO.
std::optional<double> timeout_of(MPI_Info info);

}  // namespace isthmus::face
