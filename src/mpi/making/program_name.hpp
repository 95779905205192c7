#pragma once

namespace isthmus::face {

/// MPI_INFO_ENV gets the program as `command` and its arguments as `argv` where the native library
/// has isthmusd there: Open MPI 5 asks the launcher, and does not read the variables that
/// `isthmusd exec` sets. Call after native MPI_Init.
void name_the_program();

}  // namespace isthmus::face
