#include "mpi/file/file_error.hpp"

#include <cerrno>

#include "mpi/comm/survival.hpp"
#include "mpi/file/native_file.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

// Calls the program's `handler` for files that are to be opened. Open MPI (4.1 and 5.0) never calls
// the handler of MPI_FILE_NULL. There it is called on a file that has it.
void call_handler_of_no_file([[maybe_unused]] MPI_Errhandler handler, int code) {
#ifdef OPEN_MPI
  MPI_File file = make_native_file();
  if (file == MPI_FILE_NULL) return;
  {
    const Inside inside;
    native.File_set_errhandler(file, handler);
  }
  {
    const Outside outside;
    native.File_call_errhandler(file, code);
  }
  free_native_file(file);
#else
  const Outside outside;
  native.File_call_errhandler(MPI_FILE_NULL, code);
#endif
}

}  // namespace

int file_error_class(int number) {
  switch (number) {
    case ENOENT:
    case ELOOP:
    case ENXIO:
    case ESTALE:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
      return MPI_ERR_BAD_FILE;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case EINVAL:
      return MPI_ERR_ARG;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    case EHOSTDOWN:  // lose_failed_services()
      return may_lose() ? proc_failed() : MPI_ERR_IO;
    default:
      return MPI_ERR_IO;
  }
}

int file_error_code(const file::Error& error, const char* function) {
  return error_code(file_error_class(error.number), function, error.what());
}

int raise_file(MPI_File file, int code, const char* function) {
  if (code == MPI_SUCCESS) return code;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  Handling handling = Handling::Returns;
  {
    const Inside inside;
    native.File_get_errhandler(file, &handler);
    handling = handling_of(handler);
  }
  if (handling == Handling::Fatal) {
    die(file == MPI_FILE_NULL ? "MPI_FILE_NULL" : "a file", code, function);
  }
  if (handling == Handling::ByProgram) {
    if (file == MPI_FILE_NULL) {
      call_handler_of_no_file(handler, code);
    } else {
      const Outside outside;
      native.File_call_errhandler(file, code);
    }
  }
  const Inside inside;
  if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
  return code;
}

}  // namespace isthmus::face
