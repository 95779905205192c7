// MPI-4.1 section 11.3: sessions. A session is native, and so are its information and its error
// handler; the process sets that it offers are the grid's.
#include "mpi/comm/session.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "mpi/making/lifetime.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"

#ifdef ISTHMUS_HAS_Session_init

namespace isthmus::face {
namespace {

constexpr const char* kSessionInit = "MPI_Session_init";
constexpr const char* kTooLate =
    "MPI_Finalize has ended this process's part in the grid; begin the session before it";

// Open MPI 4 has neither of these constants. In 5 they are addresses: in the program, if the linker
// has copied them there.
MPI_Session null_session() {
#ifdef OPEN_MPI
  return static_cast<MPI_Session>(dlsym(RTLD_DEFAULT, "ompi_mpi_instance_null"));
#else
  return MPI_SESSION_NULL;
#endif
}
bool is_fatal(MPI_Errhandler handler) {
#ifdef OPEN_MPI
  return handler == MPI_ERRORS_ARE_FATAL ||
         handler == static_cast<MPI_Errhandler>(dlsym(RTLD_DEFAULT, "ompi_mpi_errors_abort"));
#else
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
#endif
}

// A handler for sessions can only be called on one: on a native one that lives as long as the call.
void call(MPI_Errhandler handler, MPI_Info info, int code) {
  MPI_Session session = null_session();
  const Inside inside;
  if (native.Session_init(info, handler, &session) != MPI_SUCCESS) return;
  {
    const Outside outside;
    native.Session_call_errhandler(session, code);
  }
  native.Session_finalize(&session);
}

/// MPI_Session_init after the end. The library has no way to abort any more.
int refuse(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  *session = null_session();
  const int code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (is_fatal(handler)) {
    const std::string line = std::string("isthmus: ") + kSessionInit + ": " + kTooLate + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(1);
  }
  if (handler == MPI_ERRORS_RETURN) {
    tell_refusal(MPI_COMM_NULL, kSessionInit, kTooLate);
  } else {
    call(handler, info, code);
  }
  return code;
}

}  // namespace
}  // namespace isthmus::face

using namespace isthmus::face;

// coverage: joins the grid, as MPI_Init does, where that has not been called
ISTHMUS_MPI(Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  if (inner_call() || !in_grid() || errhandler == MPI_ERRHANDLER_NULL || session == nullptr) {
    return native.Session_init(info, errhandler, session);
  }
  if (!begin_session()) return refuse(info, errhandler, session);
  const int code = native.Session_init(info, errhandler, session);
  if (code != MPI_SUCCESS) end_session();
#ifndef OPEN_MPI
  // MPICH 4.0 forgets the handler.
  if (code == MPI_SUCCESS) native.Session_set_errhandler(*session, errhandler);
#endif
  return code;
}

// coverage: the last leaves the grid after MPI_Finalize, or without MPI_Init when the program exits
ISTHMUS_MPI(Session_finalize)(MPI_Session* session) {
  // Its kept state goes first: the native session ends with all that was made of it.
  if (!inner_call() && session != nullptr) buffer_of_ended(forget_session(*session));
  const int code = native.Session_finalize(session);
  if (code == MPI_SUCCESS && !inner_call()) end_session();
  return code;
}

#endif
