// The queries by which programs ask whether MPI takes the memory of GPUs.
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/face.hpp"

using namespace isthmus::face;

namespace {

// Memory of CUDA and HIP is staged for other clusters. Inside a cluster the native library takes
// it, or not, so its answer holds.
enum class Gpu { Staged, Other };

int ask(const char* symbol, Gpu gpu) {
  if (gpu == Gpu::Other && in_grid()) return 0;
  void* const function = native_function(symbol);
  return function ? reinterpret_cast<int (*)()>(function)() : 0;
}

}  // namespace

// Not in every mpi.h; NOLINTBEGIN(readability-redundant-declaration) where they are.
extern "C" int isthmus_X_Query_cuda_support();
extern "C" int isthmus_X_Query_rocm_support();
extern "C" int isthmus_X_Query_hip_support();
extern "C" int isthmus_X_Query_ze_support();
extern "C" int isthmus_X_GPU_query_support(int gpu_type, int* is_supported);
// NOLINTEND(readability-redundant-declaration)

ISTHMUS_MPI(X_Query_cuda_support)() { return ask("PMPIX_Query_cuda_support", Gpu::Staged); }
ISTHMUS_MPI(X_Query_rocm_support)() { return ask("PMPIX_Query_rocm_support", Gpu::Staged); }
ISTHMUS_MPI(X_Query_hip_support)() { return ask("PMPIX_Query_hip_support", Gpu::Staged); }
ISTHMUS_MPI(X_Query_ze_support)() { return ask("PMPIX_Query_ze_support", Gpu::Other); }

ISTHMUS_MPI(X_GPU_query_support)(int gpu_type, int* is_supported) {
  void* const function = native_function("PMPIX_GPU_query_support");
  constexpr int kLevelZero = 1;  // MPIX_GPU_SUPPORT_ZE
  if (gpu_type == kLevelZero && in_grid() && is_supported) {
    *is_supported = 0;
    return MPI_SUCCESS;
  }
  return reinterpret_cast<int (*)(int, int*)>(function)(gpu_type, is_supported);
}
