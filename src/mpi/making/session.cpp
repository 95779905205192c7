// Sessions would see their own cluster alone, so they are refused where there are several.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "net/report.hpp"

#ifdef ISTHMUS_HAS_Session_init

namespace isthmus::face {
namespace {

constexpr const char* kFunction = "MPI_Session_init";
constexpr const char* kReason =
    "sessions across clusters are not supported yet; a program that calls MPI_Init has all of them "
    "in MPI_COMM_WORLD";

// Open MPI 4 has neither of these constants, which are addresses in 5: those in the program, where
// the linker has copied them there.
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

int world_rank(int otherwise) {
  const char* rank = std::getenv("ISTHMUS_RANK");
  return rank ? std::atoi(rank) : otherwise;
}

bool initialized() {
  int begun = 0;
  int ended = 0;
  native.Initialized(&begun);
  native.Finalized(&ended);
  return begun != 0 && ended == 0;
}

// Before MPI_Init there is nothing to abort with: the gateway is told.
[[noreturn]] void end_job() {
  const std::string sentence = std::string(kFunction) + ": " + kReason;
  if (grid()) abort_grid(MPI_ERR_UNSUPPORTED_OPERATION, sentence);
  try {
    const Environment environment = read_environment();
    const int rank = world_rank(environment.first);
    const auto trouble = net::report_fault(
        core::world_from_json(environment.world), rank, {environment.job, environment.secret},
        "rank " + std::to_string(rank) + ": " + sentence, std::chrono::seconds(5));
    if (!trouble.empty()) throw std::runtime_error(trouble);
  } catch (const std::exception& failure) {
    const std::string line = "isthmus: " + sentence + " (" + failure.what() + ")\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
  _exit(1);
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

}  // namespace
}  // namespace isthmus::face

using namespace isthmus::face;

// coverage: refused: across clusters, through the error handler that it is given
ISTHMUS_MPI(Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  if (depth > 0 || !in_grid() || errhandler == MPI_ERRHANDLER_NULL) {
    return native.Session_init(info, errhandler, session);
  }
  if (session) *session = null_session();
  const int code = initialized() ? error_code(MPI_ERR_UNSUPPORTED_OPERATION, kFunction, kReason)
                                 : MPI_ERR_UNSUPPORTED_OPERATION;
  if (is_fatal(errhandler)) end_job();
  if (errhandler == MPI_ERRORS_RETURN) {
    if (world_rank(0) == 0) tell_refusal(MPI_COMM_NULL, kFunction, kReason);
  } else {
    call(errhandler, info, code);
  }
  return code;
}

#endif
