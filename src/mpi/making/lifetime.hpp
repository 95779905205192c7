// The time of this process in the grid (MPI-4.1 sections 11.2 to 11.4). It joins at the first of
// MPI_Init and MPI_Session_init, and leaves with the last of MPI_Finalize and MPI_Session_finalize.
// A process cannot enter a native library's world or a grid twice. So a program that uses only
// sessions leaves when it exits, as until then it may begin another one.
#pragma once

#include <string>

namespace isthmus::face {

/// Before the native MPI_Session_init: joins the grid if this is the first. Waits for all ranks
/// then, as MPI_Init does. False: too late, MPI_Finalize has ended all. Outside a grid it does
/// nothing.
bool begin_session();
/// After the native MPI_Session_finalize, or a native MPI_Session_init that failed.
void end_session();

/// In MPI_Init, in all processes of a spawned world at once: they have not met their parents, for
/// this reason. Their program would take them for a first world, and begin all its work again. So
/// they leave the grid and exit with status 0.
[[noreturn]] void end_without_parents(const std::string& why);

}  // namespace isthmus::face
