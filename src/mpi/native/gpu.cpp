// Whether MPI takes pointers to the memory of a GPU. The CPU reads and writes all data that crosses
// to another cluster. So the answer there is no, whatever the native library can do. A program that
// asks then copies to the host's memory itself.
#include "mpi/native/gpu.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>

#include "coll/engine/party.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/face.hpp"

namespace isthmus::face {
namespace {

// cuPointerGetAttribute, and its values in cuda.h.
using PointerGetAttribute = int (*)(void* value, int attribute, std::uintptr_t address);
constexpr int kMemoryType = 2, kIsManaged = 8;  // CU_POINTER_ATTRIBUTE_...
constexpr unsigned kDeviceMemory = 2;           // CU_MEMORYTYPE_DEVICE

// A program that uses the driver has loaded it by the time of its first messages, or its MPI
// library has.
constexpr int kLooks = 64;
std::atomic<int> looks{0};
std::atomic<unsigned long long> libraries_seen{0};
std::atomic<PointerGetAttribute> pointer_get_attribute{nullptr};

// The number of libraries loaded so far.
unsigned long long libraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* into) {
        *static_cast<unsigned long long*>(into) = info->dlpi_adds;
        return 1;  // all have the same
      },
      &count);
  return count;
}

// A look for a library that is not there searches the file system: 17 us (2026-11).
void look_for_driver() {
  looks.fetch_add(1, std::memory_order_relaxed);
  const unsigned long long there = libraries();
  if (libraries_seen.load() == there) return;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver) {
    void* const function = dlsym(driver, "cuPointerGetAttribute");
    dlclose(driver);  // others hold it
    pointer_get_attribute.store(reinterpret_cast<PointerGetAttribute>(function));
  }
  libraries_seen.store(there);
}

}  // namespace

bool in_reach_of_cpu(const void* address) {
  const auto attribute = pointer_get_attribute.load(std::memory_order_relaxed);
  if (!attribute) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  unsigned type = 0;
  unsigned managed = 0;
  if (attribute(&type, kMemoryType, at) != 0 || type != kDeviceMemory) return true;
  return attribute(&managed, kIsManaged, at) == 0 && managed != 0;
}

void check_reach_of_cpu(const void* address) {
  if (!pointer_get_attribute.load(std::memory_order_relaxed) &&
      looks.load(std::memory_order_relaxed) < kLooks) {
    look_for_driver();
  }
  if (in_reach_of_cpu(address)) return;
  throw MpiError(MPI_ERR_BUFFER,
                 "the buffer is in the memory of a GPU, and what crosses to another cluster "
                 "is read and written by the CPU: copy it to memory of the host");
}

}  // namespace isthmus::face

using namespace isthmus::face;

namespace {

int ask(const char* symbol) {
  if (in_grid()) return 0;
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

ISTHMUS_MPI(X_Query_cuda_support)() { return ask("PMPIX_Query_cuda_support"); }
ISTHMUS_MPI(X_Query_rocm_support)() { return ask("PMPIX_Query_rocm_support"); }
ISTHMUS_MPI(X_Query_hip_support)() { return ask("PMPIX_Query_hip_support"); }
ISTHMUS_MPI(X_Query_ze_support)() { return ask("PMPIX_Query_ze_support"); }

ISTHMUS_MPI(X_GPU_query_support)(int gpu_type, int* is_supported) {
  void* const function = native_function("PMPIX_GPU_query_support");
  if (in_grid() && is_supported) {
    *is_supported = 0;
    return MPI_SUCCESS;
  }
  return reinterpret_cast<int (*)(int, int*)>(function)(gpu_type, is_supported);
}
