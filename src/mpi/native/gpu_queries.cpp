// The queries by which programs ask whether MPI takes the memory of GPUs.
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"

using namespace isthmus::face;

namespace {

// Memory of GPUs is staged for other clusters. Inside a cluster the native library takes it, or
// not, so its answer holds.
int ask(const char* symbol) {
  void* const function = native_function(symbol);
  return function ? reinterpret_cast<int (*)()>(function)() : 0;
}

}  // namespace

// Not in every mpi.h; NOLINTBEGIN(readability-redundant-declaration) where they are.
extern "C" int isthmus_X_Query_cuda_support();
extern "C" int isthmus_X_Query_rocm_support();
extern "C" int isthmus_X_Query_hip_support();
extern "C" int isthmus_X_Query_ze_support();
// NOLINTEND(readability-redundant-declaration)

ISTHMUS_MPI(X_Query_cuda_support)() { return ask("PMPIX_Query_cuda_support"); }
ISTHMUS_MPI(X_Query_rocm_support)() { return ask("PMPIX_Query_rocm_support"); }
ISTHMUS_MPI(X_Query_hip_support)() { return ask("PMPIX_Query_hip_support"); }
ISTHMUS_MPI(X_Query_ze_support)() { return ask("PMPIX_Query_ze_support"); }
