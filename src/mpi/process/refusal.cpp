// Refusing what Isthmus does not do on grid objects.
#include <unistd.h>

#include <set>

#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

/// The functions that have been refused.
struct Refusals {
  core::Mutex mutex;
  std::set<std::string> functions GUARDED_BY(mutex);
};
Refusals& refusals() {
  // Never destroyed: MPI may be called from static destructors.
  static Refusals& all = *new Refusals;
  return all;
}

// All members call a refused function, and one of them prints.
bool speaks(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return true;
  int rank = 0;
  isthmus_Comm_rank(comm, &rank);
  return rank == 0;
}

}  // namespace

void tell_refusal(MPI_Comm comm, const char* function, const char* reason) {
  if (!speaks(comm)) return;
  {
    const core::Lock lock(refusals().mutex);
    if (!refusals().functions.insert(function).second) return;
  }
  std::string line = "isthmus: ";
  if (grid()) line += "rank " + std::to_string(grid()->world_rank) + ": ";
  line += std::string(function) + " returns an error to the program: " + reason + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

int unsupported(MPI_Comm comm, const char* function, const char* reason) {
  if (handling_on(comm) == Handling::Returns) tell_refusal(comm, function, reason);
  return raise(comm, error_code(MPI_ERR_UNSUPPORTED_OPERATION, function, reason), function);
}

}  // namespace isthmus::face
