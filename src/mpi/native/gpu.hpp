// The memory of GPUs, which the CPU cannot read: that of CUDA's driver, if the program has loaded
// it.
#pragma once

#include <cstddef>

namespace isthmus::face {

/// Whether `address` is of a GPU's own memory, as far as the process's CUDA driver knows. Managed
/// and registered memory is not. Costs a few ns in a process without a driver.
bool on_device(const void* address);
/// The same, as far as on_device has found the driver so far. One load without one.
bool in_reach_of_cpu(const void* address);
/// Whether on_device has found a driver.
bool has_gpu_driver();
/// Throws MpiError with MPI_ERR_BUFFER for memory on a device. `use` says what cannot be there.
void check_reach_of_cpu(const void* address, const char* use);

/// Copies between the host and the device that has an address. They neither wait for the program's
/// streams nor change its current context. All functions but the destructor throw MpiError with
/// MPI_ERR_BUFFER and the driver's words.
class DeviceCopies {
 public:
  explicit DeviceCopies(const void* on_device);
  ~DeviceCopies();
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  /// Both ends stay as they are until end().
  void to_host(std::byte* to, const void* from, std::size_t bytes);
  void to_device(void* to, const std::byte* from, std::size_t bytes);
  /// Waits for all of them.
  void end();

 private:
  void leave();

  bool pushed_ = false;
  bool retained_ = false;
  int device_ = 0;
  void* stream_ = nullptr;
};

}  // namespace isthmus::face
