// The memory of GPUs, which the CPU cannot read: that of the drivers of CUDA, HIP and Level
// Zero, if the program has loaded one.
#pragma once

#include <cstddef>
#include <memory>

namespace isthmus::face {

/// Whether `address` is of a GPU's own memory, as far as the process's drivers know. Managed and
/// registered memory is not. Costs a few ns in a process without a driver.
bool on_device(const void* address);
/// The same, as far as on_device has found drivers so far. One load without one.
bool in_reach_of_cpu(const void* address);
/// Whether on_device has found a driver.
bool has_gpu_driver();
/// The same, after a look for one as on_device does. Callers that would ask about another address
/// then use it.
bool look_for_gpu_driver();

/// Looks for drivers now, and in the next calls of on_device, which looks in its first ones only.
/// Callers that ask seldom and keep the answer use it.
void look_for_drivers_again();

/// Copies between the host and one device, in any order between two calls of end(). They neither
/// wait for the program's streams nor change its current device. All functions but the destructor
/// throw MpiError with MPI_ERR_BUFFER and the driver's words. Any thread may call them, one at a
/// time.
class DeviceCopies {
 public:
  DeviceCopies() = default;
  /// Waits for copies that are under way.
  virtual ~DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  /// Both ends stay as they are until end().
  virtual void to_host(std::byte* to, const void* from, std::size_t bytes) = 0;
  virtual void to_device(void* to, const std::byte* from, std::size_t bytes) = 0;
  /// Waits for all of them, and for what tell() has begun.
  virtual void end() = 0;

  /// Has a thread of the driver call `function` when all copies so far have ended. It may call
  /// neither the driver nor MPI. If one of them fails, the call may never come. False: the driver
  /// cannot do this, and nothing was done.
  virtual bool tell(void (*function)(void*), void* argument) {
    static_cast<void>(function), static_cast<void>(argument);
    return false;
  }
  /// Whether all have ended, without waiting if the driver can say so.
  virtual bool ended() {
    end();
    return true;
  }
};

/// Memory of the host that a driver has pinned, until this is destroyed.
class Pinned {
 public:
  Pinned() = default;
  virtual ~Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

/// For the device that has this address. Throws as DeviceCopies does.
std::unique_ptr<DeviceCopies> device_copies(const void* on_device);

/// Copies of that device from and to this memory of the host are faster from now on, and run beside
/// the calling thread. Null: the driver refuses.
std::unique_ptr<Pinned> pin(const void* on_device, std::byte* memory, std::size_t bytes);

}  // namespace isthmus::face
