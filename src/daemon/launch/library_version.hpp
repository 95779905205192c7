// `isthmusd library-version`: what an MPI library says it is, asked in a process of its own.
#pragma once

#include <string>

namespace isthmus::daemon {

/// Loads the library and prints the text of MPI_Get_library_version. Returns the exit status.
int print_library_version(const std::string& path);

}  // namespace isthmus::daemon
