// The time of this process in the grid (MPI-4.1 sections 11.2 to 11.4). It joins at the first of
// MPI_Init and MPI_Session_init, and leaves with the last of MPI_Finalize and MPI_Session_finalize.
// A process cannot enter a native library's world or a grid twice. So a program that uses only
// sessions leaves when it exits, as until then it may begin another one.
#pragma once

namespace isthmus::face {

/// Before the native MPI_Session_init: joins the grid if this is the first. Waits for all ranks
/// then, as MPI_Init does. False: too late, MPI_Finalize has ended all. Outside a grid it does
/// nothing.
bool begin_session();
/// After the native MPI_Session_finalize, or a native MPI_Session_init that failed.
void end_session();

}  // namespace isthmus::face
