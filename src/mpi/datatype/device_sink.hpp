// A message to the memory of a GPU. What has come is copied there while the rest comes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "coll/engine/mpi_error.hpp"
#include "mpi/datatype/memory_runs.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

class DeviceSink {
 public:
  /// Fewer bytes are not worth a copy of their own.
  static constexpr std::size_t kStep = std::size_t{256} * 1024;

  /// `in` will hold the packed elements, and outlives this. Throws MpiError.
  DeviceSink(std::span<const std::byte> in, void* buffer, MPI_Count count, MPI_Datatype type);
  /// Waits for the copies.
  ~DeviceSink() = default;
  DeviceSink(const DeviceSink&) = delete;
  DeviceSink& operator=(const DeviceSink&) = delete;

  /// The first `bytes` bytes have come. finish() throws what fails.
  void take(std::size_t bytes);
  /// All have that come, maybe not the end of an element. Bytes between the data stay as they are.
  /// Throws MpiError as DeviceCopies does.
  void finish(std::size_t bytes);

 private:
  void copy_to(std::size_t end);

  MemoryRuns runs_;
  const std::span<const std::byte> in_;
  std::optional<MpiError> failure_;
  const std::unique_ptr<DeviceCopies> copies_;
};

}  // namespace isthmus::face
