// The driver of one vendor's GPUs, in a library that the program has loaded. Isthmus
// looks up its functions there, and needs none of its headers. See gpu.hpp for what uses it.
#pragma once

#include <dlfcn.h>

#include <memory>

#include "mpi/native/gpu.hpp"

namespace isthmus::face {

/// Lives as long as the process. All functions may be called from any thread.
class GpuDriver {
 public:
  virtual ~GpuDriver() = default;
  /// Whether the address is in memory of a device that the CPU cannot reach. No error of the
  /// driver is left for the program to find.
  virtual bool holds(const void* address) const = 0;
  /// For the device that holds this address. Throws as DeviceCopies does.
  virtual std::unique_ptr<DeviceCopies> copies(const void* address) const = 0;
  /// As face::pin. No error of the driver is left for the program to find.
  virtual std::unique_ptr<Pinned> pin(const void* /*address*/, std::byte* /*memory*/,
                                      std::size_t /*bytes*/) const {
    return nullptr;
  }
};

/// CUDA, version 4 or later. Null: the library lacks a function.
const GpuDriver* cuda_in(void* library);
/// HIP, version 5 or later. Null: the library lacks a function.
const GpuDriver* hip_in(void* library);
/// Level Zero, version 1. It is initialized here. Null: the library lacks a function, or has no
/// driver.
const GpuDriver* level_zero_in(void* library);

template <class Function>
bool find_in(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Throws MpiError with MPI_ERR_BUFFER. `text` is the driver's own; null: the number serves.
[[noreturn]] void cannot_copy(const char* function, int error, const char* text);

}  // namespace isthmus::face
