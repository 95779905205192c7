// Refusing what Isthmus does not do on grid objects.
#include <unistd.h>

#include <mutex>
#include <set>

#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

// What is refused is called by all, and one of them speaks.
bool speaks(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return true;
  int rank = 0;
  isthmus_Comm_rank(comm, &rank);
  return rank == 0;
}

void release(MPI_Errhandler handler) {
  if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
}

bool returns(MPI_Comm comm) {
  // As raise has it for errors that belong to no communicator.
  if (comm == MPI_COMM_NULL) comm = MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  const Inside inside;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  native.Comm_get_errhandler(comm, &handler);
  const bool found = handling_of(handler) == Handling::Returns;
  release(handler);
  return found;
}

// Calls the program's `handler` for files that are to be opened. Open MPI (4.1 and 5.0) calls none
// of MPI_FILE_NULL: there it is called on a file that has it.
void call_file_handler([[maybe_unused]] MPI_Errhandler handler, int code) {
#ifdef OPEN_MPI
  MPI_File file = MPI_FILE_NULL;
  {
    const Inside inside;
    native.File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    const int opened =
        native.File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    native.File_set_errhandler(MPI_FILE_NULL, handler);
    if (opened != MPI_SUCCESS) return;
    native.File_set_errhandler(file, handler);
  }
  {
    const Outside outside;
    native.File_call_errhandler(file, code);
  }
  const Inside inside;
  native.File_close(&file);
#else
  const Outside outside;
  native.File_call_errhandler(MPI_FILE_NULL, code);
#endif
}

}  // namespace

void tell_refusal(MPI_Comm comm, const char* function, const char* reason) {
  // Never destroyed: MPI may be called from static destructors.
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& told = *new std::set<std::string>;
  if (!speaks(comm)) return;
  {
    const std::lock_guard lock(mutex);
    if (!told.insert(function).second) return;
  }
  std::string line = "isthmus: ";
  if (grid()) line += "rank " + std::to_string(grid()->rank) + ": ";
  line += std::string(function) + " returns an error to the program: " + reason + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

int unsupported(MPI_Comm comm, const char* function, const char* reason) {
  if (returns(comm)) tell_refusal(comm, function, reason);
  return raise(comm, error_code(MPI_ERR_UNSUPPORTED_OPERATION, function, reason), function);
}

int unsupported_file(MPI_Comm comm, const char* function, const char* reason) {
  const int code = error_code(MPI_ERR_UNSUPPORTED_OPERATION, function, reason);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  native.File_get_errhandler(MPI_FILE_NULL, &handler);
  const Handling handling = handling_of(handler);
  if (handling == Handling::Fatal) die("MPI_FILE_NULL", code, function);
  if (handling == Handling::Returns) {
    tell_refusal(comm, function, reason);
  } else {
    call_file_handler(handler, code);
  }
  release(handler);
  return code;
}

}  // namespace isthmus::face
