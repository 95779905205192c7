#include "mpi/process/error.hpp"

#include <cstring>
#include <map>
#include <utility>

#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

constexpr std::size_t kMaxCodes = 256;

// The codes made here. Never destroyed: MPI may be called from static destructors.
struct Codes {
  core::Mutex mutex;
  std::map<std::pair<int, std::string>, int> by_sentence GUARDED_BY(mutex);
  std::map<int, std::string> sentences GUARDED_BY(mutex);
};
Codes& codes() {
  static Codes& all = *new Codes;
  return all;
}

std::string sentence_of(int code) {
  const core::Lock lock(codes().mutex);
  const auto at = codes().sentences.find(code);
  return at == codes().sentences.end() ? std::string() : at->second;
}

std::string describe(int code) {
  if (std::string ours = sentence_of(code); !ours.empty()) return ours;
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

Handling handling_of_handler_on(MPI_Comm comm) {
  const Inside inside;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  native.Comm_get_errhandler(comm, &handler);
  const Handling found = handling_of(handler);
  if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
  return found;
}

/// The communicator whose handler gets an error that belongs to no object. MPI 3.1 names
/// MPI_COMM_WORLD, MPI 4 MPI_COMM_SELF. MPICH 4.0 and Open MPI 4.1 and 5.0 follow 3.1, MPICH 5.0
/// follows 4.0 (2026-11). Programs set one of them, so the other is used if the first is fatal.
MPI_Comm hears_of_no_object() {
  int version = 0, part = 0;
  native.Get_version(&version, &part);
  const bool of_self = version > 4 || (version == 4 && part > 0);
  const MPI_Comm first = of_self ? MPI_COMM_SELF : MPI_COMM_WORLD;
  const MPI_Comm second = of_self ? MPI_COMM_WORLD : MPI_COMM_SELF;
  if (handling_of_handler_on(first) != Handling::Fatal) return first;
  return handling_of_handler_on(second) != Handling::Fatal ? second : first;
}

}  // namespace

constinit thread_local int withholding __attribute__((tls_model("initial-exec"))) = 0;

int error_code(int error_class, const std::string& function, const std::string& reason) {
  std::string sentence = function + ": " + reason;
  if (sentence.size() >= MPI_MAX_ERROR_STRING) sentence.resize(MPI_MAX_ERROR_STRING - 1);

  const bool own_code = is_survival_error(error_class);
  const core::Lock lock(codes().mutex);
  if (own_code) {
    codes().sentences[error_class] = std::move(sentence);
    return error_class;
  }
  const auto known = codes().by_sentence.find({error_class, sentence});
  if (known != codes().by_sentence.end()) return known->second;
  if (codes().by_sentence.size() >= kMaxCodes) return error_class;
  const Inside inside;
  int code = error_class;
  if (native.Add_error_code(error_class, &code) != MPI_SUCCESS ||
      native.Add_error_string(code, sentence.c_str()) != MPI_SUCCESS) {
    return error_class;
  }
  codes().by_sentence.emplace(std::pair(error_class, sentence), code);
  codes().sentences.emplace(code, sentence);
  return code;
}

int class_of(int code) {
  if (is_survival_error(code)) return code;
  int error_class = MPI_ERR_OTHER;
  native.Error_class(code, &error_class);
  return error_class;
}

Handling handling_of(MPI_Errhandler handler) {
  if (handler == MPI_ERRORS_RETURN) return Handling::Returns;
  bool fatal = handler == MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
  fatal = fatal || handler == MPI_ERRORS_ABORT;
#endif
  return fatal ? Handling::Fatal : Handling::ByProgram;
}

Handling handling_on(MPI_Comm comm) {
  return handling_of_handler_on(comm == MPI_COMM_NULL ? hears_of_no_object() : comm);
}

void die(const std::string& object, int code, const char* function) {
  const std::string name = function;
  std::string why = describe(code);
  if (why.starts_with(name + ": ")) why.erase(0, name.size() + 2);
  if (const auto told = before_death.load()) told();
  abort_grid(class_of(code), name + " failed on " + object + ": " + why);
}

int raise(MPI_Comm comm, int code, const char* function) {
  if (code == MPI_SUCCESS || withholding > 0) return code;
  if (comm == MPI_COMM_NULL) comm = hears_of_no_object();
  const Handling handling = handling_of_handler_on(comm);
  if (handling == Handling::Returns) return code;
  if (handling == Handling::Fatal) die("communicator " + name_of(comm), code, function);
  const Outside outside;  // the handler is the program's own
  native.Comm_call_errhandler(comm, code);
  return code;
}

void call_without_comm(MPI_Errhandler handler, int code) {
  MPI_Comm stand_in = MPI_COMM_NULL;
  {
    const Inside inside;
    if (native.Comm_dup(grid()->self, &stand_in) != MPI_SUCCESS) return;
    native.Comm_set_errhandler(stand_in, handler);
  }
  {
    const Outside outside;
    native.Comm_call_errhandler(stand_in, code);
  }
  const Inside inside;
  native.Comm_free(&stand_in);
}

int raise_by(MPI_Errhandler handler, int code, const char* function) {
  const Handling handling = handling_of(handler);
  if (handling == Handling::Fatal) die("a communicator to be made", code, function);
  if (handling == Handling::ByProgram && handler != MPI_ERRHANDLER_NULL) {
    call_without_comm(handler, code);
  }
  return code;
}

}  // namespace isthmus::face

using namespace isthmus::face;

// coverage: MPICH 4.0 forgets the strings of codes added to its own classes, so ours are kept here
ISTHMUS_MPI(Error_string)(int errorcode, char* string, int* resultlen) {
  const std::string ours = sentence_of(errorcode);
  if (ours.empty()) return native.Error_string(errorcode, string, resultlen);
  std::memcpy(string, ours.c_str(), ours.size() + 1);
  *resultlen = static_cast<int>(ours.size());
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Error_class)(int errorcode, int* errorclass) {
  if (!is_survival_error(errorcode)) return native.Error_class(errorcode, errorclass);
  *errorclass = errorcode;
  return MPI_SUCCESS;
}
