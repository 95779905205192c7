#include "mpi/error.hpp"

#include <map>
#include <mutex>

#include "mpi/entry.hpp"
#include "mpi/grid.hpp"

namespace isthmus::face {
namespace {

constexpr std::size_t kMaxCodes = 256;

std::string describe(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (native.Error_string(code, text, &length) != MPI_SUCCESS || length <= 0) {
    return "error code " + std::to_string(code);
  }
  return std::string(text, static_cast<std::size_t>(length));
}

std::string name_of(MPI_Comm comm) {
  char text[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  native.Comm_get_name(comm, text, &length);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "(without a name)";
}

}  // namespace

int error_code(int error_class, const std::string& function, const std::string& reason) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::string>, int> codes;
  std::string sentence = function + ": " + reason;
  if (sentence.size() >= MPI_MAX_ERROR_STRING) sentence.resize(MPI_MAX_ERROR_STRING - 1);

  const std::lock_guard lock(mutex);
  const auto known = codes.find({error_class, sentence});
  if (known != codes.end()) return known->second;
  if (codes.size() >= kMaxCodes) return error_class;
  const Inside inside;
  int code = error_class;
  if (native.Add_error_code(error_class, &code) != MPI_SUCCESS ||
      native.Add_error_string(code, sentence.c_str()) != MPI_SUCCESS) {
    return error_class;
  }
  codes.emplace(std::pair(error_class, sentence), code);
  return code;
}

int raise(MPI_Comm comm, int code, const char* function) {
  if (code == MPI_SUCCESS) return code;
  // Errors that belong to no communicator: MPI-4 section 9.3 and earlier versions.
  if (comm == MPI_COMM_NULL) comm = MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  bool returns = false;
  bool fatal = false;
  {
    const Inside inside;
    native.Comm_get_errhandler(comm, &handler);
    returns = handler == MPI_ERRORS_RETURN;
    fatal = handler == MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
    fatal = fatal || handler == MPI_ERRORS_ABORT;
#endif
    if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
  }
  if (returns) return code;
  if (fatal) {
    const std::string where = name_of(comm);
    abort_grid(code,
               std::string(function) + " failed on communicator " + where + ": " + describe(code));
  }
  const Outside outside;  // the handler is the program's own
  native.Comm_call_errhandler(comm, code);
  return code;
}

int unsupported(MPI_Comm comm, const char* function, const char* reason) {
  return raise(comm, error_code(MPI_ERR_UNSUPPORTED_OPERATION, function, reason), function);
}

}  // namespace isthmus::face
