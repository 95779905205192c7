// CUDA's driver: recognises the memory of a GPU, and copies from and to it. Data that crosses to
// another cluster is staged in memory of the host.
#include "mpi/native/gpu.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/face.hpp"

namespace isthmus::face {
namespace {

// Values in cuda.h.
constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8, kOrdinal = 9;  // CU_POINTER_ATTRIBUTE_
constexpr unsigned kDeviceMemory = 2;                                       // CU_MEMORYTYPE_DEVICE
constexpr unsigned kNonBlocking = 1;                                        // CU_STREAM_

/// Functions of the driver, which is never unloaded. CUdeviceptr is an integer.
struct Driver {
  int (*pointer_get_attribute)(void* value, int attribute, std::uintptr_t address);
  int (*get_error_string)(int error, const char** text);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*get_context)(void** context);
  int (*retain_primary)(void** context, int device);
  int (*release_primary)(int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*stream_destroy)(void* stream);
  int (*copy_to_host)(void* to, std::uintptr_t from, std::size_t bytes, void* stream);
  int (*copy_to_device)(std::uintptr_t to, const void* from, std::size_t bytes, void* stream);
};

// A program that uses the driver has loaded it by the time of its first messages, or its MPI
// library has.
constexpr int kLooks = 64;
std::atomic<int> looks{0};
std::atomic<unsigned long long> libraries_seen{0};
std::atomic<const Driver*> driver{nullptr};

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

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Null: it lacks a function, so it is not CUDA's of version 4 or later.
const Driver* functions_of(void* library) {
  static Driver found;
  const bool whole = find(library, "cuPointerGetAttribute", found.pointer_get_attribute) &&
                     find(library, "cuGetErrorString", found.get_error_string) &&
                     find(library, "cuCtxPushCurrent_v2", found.push_context) &&
                     find(library, "cuCtxPopCurrent_v2", found.pop_context) &&
                     find(library, "cuCtxGetCurrent", found.get_context) &&
                     find(library, "cuDevicePrimaryCtxRetain", found.retain_primary) &&
                     find(library, "cuDevicePrimaryCtxRelease", found.release_primary) &&
                     find(library, "cuStreamCreate", found.stream_create) &&
                     find(library, "cuStreamSynchronize", found.stream_synchronize) &&
                     find(library, "cuStreamDestroy_v2", found.stream_destroy) &&
                     find(library, "cuMemcpyDtoHAsync_v2", found.copy_to_host) &&
                     find(library, "cuMemcpyHtoDAsync_v2", found.copy_to_device);
  return whole ? &found : nullptr;
}

// A look for a library that is not there searches the file system: 17 us (2026-11). The driver's
// functions are written once: later calls find the same.
void look_for_driver() {
  looks.fetch_add(1, std::memory_order_relaxed);
  const unsigned long long there = libraries();
  if (libraries_seen.load() == there) return;
  static core::Mutex looking;
  const core::Lock guard(looking);
  if (driver.load(std::memory_order_acquire) == nullptr) {
    if (void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
      driver.store(functions_of(library), std::memory_order_release);
      if (!has_gpu_driver()) dlclose(library);
    }
  }
  libraries_seen.store(there);
}

void require_copied(int error, const char* function) {
  if (error == 0) return;
  const char* text = nullptr;
  driver.load()->get_error_string(error, &text);
  throw MpiError(MPI_ERR_BUFFER,
                 std::string("memory of a GPU cannot be copied: ") + function +
                     " failed: " + (text != nullptr ? text : std::to_string(error)));
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

bool has_gpu_driver() { return driver.load(std::memory_order_acquire) != nullptr; }

bool in_reach_of_cpu(const void* address) {
  const Driver* const cuda = driver.load(std::memory_order_acquire);
  if (cuda == nullptr) return true;
  unsigned type = 0;
  unsigned managed = 0;
  const std::uintptr_t at = number(address);
  if (cuda->pointer_get_attribute(&type, kMemoryType, at) != 0 || type != kDeviceMemory) {
    return true;
  }
  return cuda->pointer_get_attribute(&managed, kIsManaged, at) == 0 && managed != 0;
}

bool on_device(const void* address) {
  if (!has_gpu_driver() && looks.load(std::memory_order_relaxed) < kLooks) look_for_driver();
  return !in_reach_of_cpu(address);
}

void check_reach_of_cpu(const void* address, const char* use) {
  if (!on_device(address)) return;
  throw MpiError(MPI_ERR_BUFFER, std::string(use) +
                                     " cannot be in the memory of a GPU over several clusters: "
                                     "copy it to memory of the host");
}

DeviceCopies::DeviceCopies(const void* on_device) {
  const Driver& cuda = *driver.load(std::memory_order_acquire);
  // Memory of a pool has no context of its own.
  void* context = nullptr;
  void* current = nullptr;
  const bool named =
      cuda.pointer_get_attribute(&context, kContext, number(on_device)) == 0 && context != nullptr;
  if (!named && (cuda.get_context(&current) != 0 || current == nullptr)) {
    require_copied(cuda.pointer_get_attribute(&device_, kOrdinal, number(on_device)),
                   "cuPointerGetAttribute");
    require_copied(cuda.retain_primary(&context, device_), "cuDevicePrimaryCtxRetain");
    retained_ = true;
  }
  if (context != nullptr) {
    const int error = cuda.push_context(context);
    if (error != 0 && retained_) cuda.release_primary(device_);
    require_copied(error, "cuCtxPushCurrent");
    pushed_ = true;
  }
  const int error = cuda.stream_create(&stream_, kNonBlocking);
  if (error != 0) {
    leave();
    require_copied(error, "cuStreamCreate");
  }
}

DeviceCopies::~DeviceCopies() {
  const Driver& cuda = *driver.load(std::memory_order_acquire);
  cuda.stream_synchronize(stream_);  // after an error: copies may be under way
  cuda.stream_destroy(stream_);
  leave();
}

// The program's own context is current again.
void DeviceCopies::leave() {
  const Driver& cuda = *driver.load(std::memory_order_acquire);
  void* ours = nullptr;
  if (pushed_) cuda.pop_context(&ours);
  if (retained_) cuda.release_primary(device_);
}

void DeviceCopies::to_host(std::byte* to, const void* from, std::size_t bytes) {
  require_copied(driver.load()->copy_to_host(to, number(from), bytes, stream_),
                 "cuMemcpyDtoHAsync");
}

void DeviceCopies::to_device(void* to, const std::byte* from, std::size_t bytes) {
  require_copied(driver.load()->copy_to_device(number(to), from, bytes, stream_),
                 "cuMemcpyHtoDAsync");
}

void DeviceCopies::end() {
  require_copied(driver.load()->stream_synchronize(stream_), "cuStreamSynchronize");
}

}  // namespace isthmus::face

using namespace isthmus::face;

namespace {

// Only CUDA's memory is staged for other clusters. Inside a cluster the native library takes it, or
// not, so its answer holds.
enum class Gpu { Cuda, Other };

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

ISTHMUS_MPI(X_Query_cuda_support)() { return ask("PMPIX_Query_cuda_support", Gpu::Cuda); }
ISTHMUS_MPI(X_Query_rocm_support)() { return ask("PMPIX_Query_rocm_support", Gpu::Other); }
ISTHMUS_MPI(X_Query_hip_support)() { return ask("PMPIX_Query_hip_support", Gpu::Other); }
ISTHMUS_MPI(X_Query_ze_support)() { return ask("PMPIX_Query_ze_support", Gpu::Other); }

ISTHMUS_MPI(X_GPU_query_support)(int gpu_type, int* is_supported) {
  void* const function = native_function("PMPIX_GPU_query_support");
  constexpr int kCuda = 0;  // MPIX_GPU_SUPPORT_CUDA
  if (gpu_type != kCuda && in_grid() && is_supported) {
    *is_supported = 0;
    return MPI_SUCCESS;
  }
  return reinterpret_cast<int (*)(int, int*)>(function)(gpu_type, is_supported);
}
