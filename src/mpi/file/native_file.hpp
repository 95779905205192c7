// The native file behind the handle of a grid file: it carries error handlers and Fortran's number.
// It reads and writes nothing.
#pragma once

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// A native file of this process alone. It shares nothing with other processes, jobs and users: no
/// name, file, segment or semaphore. MPI_FILE_NULL if it cannot be made.
MPI_File make_native_file();
/// Ends one, and leaves MPI_FILE_NULL.
void free_native_file(MPI_File& file);

}  // namespace isthmus::face
