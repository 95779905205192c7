// Raising MPI errors the standard's way: through the error handler of the object concerned.
#pragma once

#include <atomic>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// An error code of class `error_class` whose string says `function: reason`. Codes are made once
/// per distinct sentence and are bounded in number; beyond the bound the plain class is returned.
int error_code(int error_class, const std::string& function, const std::string& reason);

/// Invokes the error handler of `comm` (native or grid) with `code` and returns what the calling
/// MPI function should return. With MPI_ERRORS_ARE_FATAL (or MPI_ERRORS_ABORT) the whole grid is
/// aborted after a sentence on standard error. MPI_COMM_NULL: the error belongs to no object.
int raise(MPI_Comm comm, int code, const char* function);

/// Calls the program's handler with a communicator of this process alone: its own is gone, or not
/// made yet.
void call_without_comm(MPI_Errhandler handler, int code);
/// As raise, by a handler that is for a communicator not made yet.
int raise_by(MPI_Errhandler handler, int code, const char* function);

enum class Handling { Returns, Fatal, ByProgram };
Handling handling_of(MPI_Errhandler handler);
/// Returns how the handler of `comm` handles errors; MPI_COMM_NULL counts as for raise.
Handling handling_on(MPI_Comm comm);
/// What a process does before an error ends it, as its profile is told; none: null.
inline std::atomic<void (*)()> before_death = nullptr;
/// What a fatal handler does: ends the grid with a sentence. `object` is what the handler hangs on.
[[noreturn]] void die(const std::string& object, int code, const char* function);

// refusal.cpp: what Isthmus does not do on grid objects. Where the handler returns, tells as well.
/// error_code + raise.
int unsupported(MPI_Comm comm, const char* function, const char* reason);
/// Says on standard error that the program is given an error which it may not look at: at the first
/// refusal of each function, on one process where all members of `comm` are refused.
void tell_refusal(MPI_Comm comm, const char* function, const char* reason);

}  // namespace isthmus::face
