// Raising MPI errors the standard's way: through the error handler of the object concerned.
#pragma once

#include <atomic>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// An error code of class `error_class` with the string `function: reason`. Codes are made once per
/// distinct sentence and are bounded in number; beyond the bound the plain class is returned. The
/// classes of survival_errors.hpp are their own codes, since programs for ULFM compare codes with
/// them: their string is the last one.
int error_code(int error_class, const std::string& function, const std::string& reason);

/// Invokes the error handler of `comm` (native or grid) with `code`. Returns the result for the
/// calling MPI function. MPI_ERRORS_ARE_FATAL (or MPI_ERRORS_ABORT) aborts the whole grid after a
/// sentence on standard error. MPI_COMM_NULL: the error belongs to no object.
int raise(MPI_Comm comm, int code, const char* function);

/// The number of Withheld of this thread.
extern constinit thread_local int withholding __attribute__((tls_model("initial-exec")));
/// While it lives, this thread's calls return the errors of grid objects, and no handler is called.
/// For MPI functions that another one calls on the program's communicator. The members have to go
/// on with the outer call, but the program's handler may end the run, or leave by longjmp.
class Withheld {
 public:
  Withheld() { ++withholding; }
  ~Withheld() { --withholding; }
  Withheld(const Withheld&) = delete;
  Withheld& operator=(const Withheld&) = delete;
};

/// Calls the program's handler with a communicator of this process alone: its own is gone, or not
/// made yet.
void call_without_comm(MPI_Errhandler handler, int code);
/// As raise, by a handler that is for a communicator not made yet.
int raise_by(MPI_Errhandler handler, int code, const char* function);

/// The class of an error code. Open MPI (4.1) does not know that of a class which was added.
int class_of(int code);

/// Thrown in a call: a code that is raised on `comm` when the objects of the call are gone. The
/// program's handler may leave by longjmp, which runs no destructors.
struct Unraised {
  MPI_Comm comm;
  int code;
};

enum class Handling { Returns, Fatal, ByProgram };
Handling handling_of(MPI_Errhandler handler);
/// Returns how the handler of `comm` handles errors; MPI_COMM_NULL counts as for raise.
Handling handling_on(MPI_Comm comm);
/// Called before an error ends the process, to send its profile; may be null.
inline std::atomic<void (*)()> before_death = nullptr;
/// The action of a fatal handler: ends the grid with a sentence. `object` has the handler.
[[noreturn]] void die(const std::string& object, int code, const char* function);

// refusal.cpp: functions that Isthmus does not support on grid objects. If the handler returns,
// they also print a message.
int unsupported(MPI_Comm comm, const char* function, const char* reason);
/// Prints on standard error that the program gets an error which it may not check. Prints at the
/// first refusal of each function. If all members of `comm` are refused, one process prints.
void tell_refusal(MPI_Comm comm, const char* function, const char* reason);

}  // namespace isthmus::face
