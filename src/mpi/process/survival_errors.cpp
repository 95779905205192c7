#include "mpi/process/survival_errors.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "mpi/native/entry.hpp"
#include "mpi/process/failed_clusters.hpp"

namespace isthmus::face {
namespace {

struct Classes {
  int failed = MPI_ERR_OTHER;
  int pending = MPI_ERR_OTHER;
  int revoked = MPI_ERR_OTHER;
};

#if defined(OPEN_MPI) && defined(MPI_ERR_PROC_FAILED)
/// The face of Open MPI 5 serves programs of Open MPI 4, too, which does not know the classes.
bool library_has_them() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  if (native.Get_library_version(text, &length) != MPI_SUCCESS) return false;
  constexpr std::string_view kBefore = "Open MPI v";
  constexpr int kFirst = 5;
  const std::string version(text);
  const std::size_t at = version.find(kBefore);
  return at != std::string::npos && std::atoi(version.c_str() + at + kBefore.size()) >= kFirst;
}
constexpr Classes kNative{MPI_ERR_PROC_FAILED, MPI_ERR_PROC_FAILED_PENDING, MPI_ERR_REVOKED};
#elif defined(MPIX_ERR_PROC_FAILED)
bool library_has_them() { return true; }
constexpr Classes kNative{MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED};
#else
bool library_has_them() { return false; }
constexpr Classes kNative{};
#endif

int new_class(const char* meaning) {
  const Inside inside;
  int added = MPI_ERR_OTHER;
  if (native.Add_error_class(&added) != MPI_SUCCESS) return MPI_ERR_OTHER;
  native.Add_error_string(added, meaning);
  return added;
}

Classes find_classes() {
  if (library_has_them()) return kNative;
  return {new_class("a process that the operation needs has failed"),
          new_class("a process that the operation may need has failed"),
          new_class("the communicator is revoked")};
}

const Classes& classes() {
  static const Classes all = find_classes();
  return all;
}

}  // namespace

void add_survival_errors() { classes(); }
int proc_failed() { return classes().failed; }
int proc_failed_pending() { return classes().pending; }
int revoked() { return classes().revoked; }

bool is_survival_error(int error_class) {
  if (!FailedClusters::possible()) return false;
  const Classes& all = classes();
  return error_class == all.failed || error_class == all.pending || error_class == all.revoked;
}

}  // namespace isthmus::face
