// Elements in the memory of a GPU, as they lie there, in memory of the host: for conversions that
// the CPU does element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/file/representation.hpp"

namespace isthmus::face {

/// Whether the elements are in memory that the CPU cannot reach.
bool is_on_device(const Memory& memory);

/// The datatype stays valid. All functions throw MpiError.
class HostImage {
 public:
  /// Takes as much memory as the elements span, with their gaps.
  explicit HostImage(const Memory& device);
  /// The same elements on the host.
  const Memory& here() const { return here_; }
  /// Copies them from the device. An error has the words of the GPU's driver.
  void load();
  /// Copies the first packed bytes of them to the device. Bytes between the data stay as they are.
  void store(std::uint64_t bytes);

 private:
  Memory device_, here_;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace isthmus::face
