#include "mpi/datatype/staging.hpp"

#include "mpi/datatype/memory_runs.hpp"
#include "mpi/native/gpu.hpp"

namespace isthmus::face {

// Enough for a message of 64 MiB each way.
PinnedPool::Memory staging_memory(const void* on_device, std::size_t bytes) {
  constexpr std::size_t kMostPinned = std::size_t{128} << 20;
  static auto& pool = *new PinnedPool(kMostPinned);  // never destroyed: nor are drivers
  return pool.take(bytes, [on_device](std::byte* memory, std::size_t size) {
    return pin(on_device, memory, size);
  });
}

void pack_from_device(const void* buffer, MPI_Count count, MPI_Datatype type,
                      std::span<std::byte> out) {
  MemoryRuns runs(buffer, count, type);
  const auto copies = device_copies(runs.first());
  runs.pass(out.size(), [&](std::byte* from, std::size_t at, std::size_t n) {
    copies->to_host(out.data() + at, from, n);
  });
  copies->end();
}

}  // namespace isthmus::face
