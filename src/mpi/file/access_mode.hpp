// The access mode of a file: MPI_MODE_* (MPI-4.1 section 14.2.1).
#pragma once

#include "mpi/file/grid_file.hpp"

namespace isthmus::face {

/// Collective: all members have the same access mode, and it is one that may be. Throws
/// MpiError on all.
void check_access_mode(const GridFile& file);

/// The flags of open(2) for an existing file, and those that its first opener adds.
int access_flags(int amode);
int creation_flags(int amode);

}  // namespace isthmus::face
