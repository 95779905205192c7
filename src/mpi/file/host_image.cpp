#include "mpi/file/host_image.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

// Through integers: MPI_BOTTOM plus an address is an address.
void* moved(void* buffer, std::int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                 static_cast<std::uintptr_t>(bytes));
}

void copy(const Memory& from, const Memory& to, std::size_t most) {
  const Outgoing out(from.buffer, from.count, from.type);
  Incoming in(to.buffer, to.count, to.type);
  const auto bytes = out.bytes().first(std::min(most, out.bytes().size()));
  if (bytes.empty()) return;
  std::memcpy(in.bytes().data(), bytes.data(), bytes.size());
  require_success(in.finish(bytes.size()),
                  "data of a file cannot be copied to a GPU: its memory was freed, or its driver "
                  "failed");
}

}  // namespace

bool is_on_device(const Memory& memory) {
  return look_for_gpu_driver() &&
         on_device(moved(memory.buffer, map_of(memory.type)->true_lower()));
}

HostImage::HostImage(const Memory& device) : device_(device), here_(device) {
  const auto bounds = map_of(device.type)->bounds(device.count);
  require(bounds.has_value(), MPI_ERR_COUNT, "the elements exceed all memory");
  bytes_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(bounds->high - bounds->low));
  here_.buffer = moved(bytes_.get(), -bounds->low);
}

void HostImage::load() { copy(device_, here_, packed_size(device_.count, device_.type)); }

void HostImage::store(std::uint64_t bytes) { copy(here_, device_, bytes); }

}  // namespace isthmus::face
