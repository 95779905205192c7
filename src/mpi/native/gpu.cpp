// Finds the drivers of GPUs, and asks them about addresses. Data that crosses to another cluster is
// staged in memory of the host.
#include "mpi/native/gpu.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <string>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/gpu_driver.hpp"

namespace isthmus::face {
namespace {

struct Library {
  const char* name;
  const GpuDriver* (*driver_in)(void* library);
  int vendor;  ///< index in `drivers`
};
// The number behind HIP's name is its major version. PyTorch's wheels have it without one.
constexpr Library kLibraries[] = {
    {"libcuda.so.1", cuda_in, 0},    {"libamdhip64.so.7", hip_in, 1},
    {"libamdhip64.so.6", hip_in, 1}, {"libamdhip64.so.5", hip_in, 1},
    {"libamdhip64.so", hip_in, 1},   {"libze_loader.so.1", level_zero_in, 2},
};
std::array<std::atomic<const GpuDriver*>, 3> drivers{};
std::atomic<bool> any_driver{false};

// A program that uses a driver has loaded it by the time of its first messages, or its MPI library
// has.
constexpr int kLooks = 64;
std::atomic<int> looks{0};
std::atomic<unsigned long long> libraries_seen{0};

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

// A look for a library that is not there searches the file system: 17 us (2026-11). A driver's
// functions are written once: later calls find the same.
void look_for_drivers() {
  looks.fetch_add(1, std::memory_order_relaxed);
  const unsigned long long there = libraries();
  if (libraries_seen.load() == there) return;
  static core::Mutex looking;
  const core::Lock guard(looking);
  for (const Library& library : kLibraries) {
    auto& found = drivers[static_cast<std::size_t>(library.vendor)];
    if (found.load(std::memory_order_acquire) != nullptr) continue;
    void* const handle = dlopen(library.name, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    const GpuDriver* const driver = library.driver_in(handle);
    if (driver == nullptr) dlclose(handle);
    found.store(driver, std::memory_order_release);
    if (driver != nullptr) any_driver.store(true, std::memory_order_release);
  }
  libraries_seen.store(there);
}

/// Null: the CPU can reach the address.
const GpuDriver* driver_of(const void* address) {
  if (!has_gpu_driver()) return nullptr;
  for (const auto& found : drivers) {
    const GpuDriver* const driver = found.load(std::memory_order_acquire);
    if (driver != nullptr && driver->holds(address)) return driver;
  }
  return nullptr;
}

}  // namespace

bool has_gpu_driver() { return any_driver.load(std::memory_order_acquire); }

bool look_for_gpu_driver() {
  if (!has_gpu_driver() && looks.load(std::memory_order_relaxed) < kLooks) look_for_drivers();
  return has_gpu_driver();
}

bool in_reach_of_cpu(const void* address) { return driver_of(address) == nullptr; }

bool on_device(const void* address) {
  if (looks.load(std::memory_order_relaxed) < kLooks) look_for_drivers();
  return !in_reach_of_cpu(address);
}

void look_for_drivers_again() {
  looks.store(0, std::memory_order_relaxed);
  look_for_drivers();
}

std::unique_ptr<DeviceCopies> device_copies(const void* on_device) {
  const GpuDriver* const driver = driver_of(on_device);
  if (driver == nullptr) {
    throw MpiError(MPI_ERR_BUFFER,
                   "memory of a GPU cannot be copied: it was freed during the MPI call");
  }
  return driver->copies(on_device);
}

std::unique_ptr<Pinned> pin(const void* on_device, std::byte* memory, std::size_t bytes) {
  const GpuDriver* const driver = driver_of(on_device);
  return driver == nullptr ? nullptr : driver->pin(on_device, memory, bytes);
}

void cannot_copy(const char* function, int error, const char* text) {
  throw MpiError(MPI_ERR_BUFFER,
                 std::string("memory of a GPU cannot be copied: ") + function +
                     " failed: " + (text != nullptr ? text : std::to_string(error)));
}

}  // namespace isthmus::face
