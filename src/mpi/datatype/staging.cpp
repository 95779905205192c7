#include "mpi/datatype/staging.hpp"

#include <cstdint>

#include "core/datatype/type_map.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/native/gpu.hpp"

namespace isthmus::face {
namespace {

std::byte* address(const void* buffer, std::int64_t offset) {
  // Through integers: MPI_BOTTOM plus an address is an address.
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

/// Calls `each(first byte in memory, offset in the packed bytes, length)` for the runs of memory
/// that hold the first `size` packed bytes.
template <class Each>
void for_runs(const void* buffer, MPI_Count count, MPI_Datatype type, std::size_t size,
              const Each& each) {
  if (size == 0) return;
  MPI_Aint lower = 0;
  if (is_contiguous(count, type, &lower)) return each(address(buffer, lower), 0, size);
  const TypeMapRef map = map_of(type);
  core::TypeCursor cursor(*map, count);
  std::byte* begin = nullptr;
  std::size_t at = 0, length = 0;
  while (at + length < size) {
    const core::Piece piece = cursor.next(static_cast<std::int64_t>(size - at - length));
    if (piece.length == 0) break;
    std::byte* const place = address(buffer, piece.offset);
    if (length > 0 && place != begin + length) {
      each(begin, at, length);
      at += length;
      length = 0;
    }
    if (length == 0) begin = place;
    length += static_cast<std::size_t>(piece.length);
  }
  if (length > 0) each(begin, at, length);
}

const void* first_of(const void* buffer, MPI_Count count, MPI_Datatype type) {
  MPI_Aint lower = 0;
  if (is_contiguous(count, type, &lower)) return address(buffer, lower);
  return address(buffer, map_of(type)->true_lower());
}

}  // namespace

void pack_from_device(const void* buffer, MPI_Count count, MPI_Datatype type,
                      std::span<std::byte> out) {
  const auto copies = device_copies(first_of(buffer, count, type));
  for_runs(buffer, count, type, out.size(), [&](std::byte* from, std::size_t at, std::size_t n) {
    copies->to_host(out.data() + at, from, n);
  });
  copies->end();
}

void unpack_to_device(std::span<const std::byte> in, void* buffer, MPI_Count count,
                      MPI_Datatype type) {
  if (in.empty()) return;
  const auto copies = device_copies(first_of(buffer, count, type));
  for_runs(buffer, count, type, in.size(), [&](std::byte* to, std::size_t at, std::size_t n) {
    copies->to_device(to, in.data() + at, n);
  });
  copies->end();
}

}  // namespace isthmus::face
