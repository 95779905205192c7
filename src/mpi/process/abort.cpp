#include <unistd.h>

#include <cstdlib>

#include "core/trace/trace.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

void abort_grid(int code, const std::string& sentence) {
  const Inside inside;
  Grid* here = grid();
  if (!sentence.empty()) {
    std::string line = "isthmus: ";
    if (here) line += "rank " + std::to_string(here->world_rank) + ": ";
    line += sentence + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
  core::trace::dump(sentence.empty() ? "MPI_Abort" : sentence.c_str());
  if (here && here->endpoint) here->endpoint->abort(code, sentence);
  native.Abort(MPI_COMM_WORLD, code);
  _exit(code & 0xFF ? code & 0xFF : 1);  // MPI_Abort may return before the job has ended
}

}  // namespace isthmus::face

using namespace isthmus::face;

// coverage: any communicator: ends the whole grid with the code
ISTHMUS_MPI(Abort)(MPI_Comm comm, int errorcode) {
  if (native_call()) return native.Abort(comm, errorcode);
  abort_grid(errorcode, "");  // the report names the rank and the code
}
