// MPI-4.1 section 5.2: packing for a communicator whose clusters' processors differ. Packed data is
// then in the common format, so that each member can unpack it.
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "mpi/comm/lookup.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Null: what is packed is as in memory.
SignatureRef changing_signature(MPI_Comm comm, MPI_Datatype type) {
  if (differences.load(std::memory_order_relaxed) == Differences::None) return nullptr;
  const GridComm* const g = grid_comm(comm);
  if (g == nullptr || type == MPI_DATATYPE_NULL || format_among(*g) == own_format()) return nullptr;
  check_passes(*g, type);
  return signature_of(type);
}

template <class Count>
int pack(const void* from, Count count, MPI_Datatype type, void* packed, Count size,
         Count* position, MPI_Comm comm, const char* function) {
  const auto natively = [&] {
    return ISTHMUS_NATIVE(Pack, Count)(from, count, type, packed, size, position, comm);
  };
  if (differences.load(std::memory_order_relaxed) == Differences::None) return natively();
  return shielded(comm, function, [&]() -> int {
    const auto signature = changing_signature(comm, type);
    if (!signature) return natively();
    check_reach_of_cpu(packed, "packed data for clusters whose processors differ");
    const auto begin = static_cast<std::size_t>(*position);
    auto* const out = static_cast<std::byte*>(packed);
    // The library may leave bytes without meaning as they are.
    const std::size_t bytes = count > 0 ? packed_size(count, type) : 0;
    if (begin + bytes <= static_cast<std::size_t>(size)) std::memset(out + begin, 0, bytes);
    const int code = natively();
    if (code == MPI_SUCCESS) {
      const std::size_t end = static_cast<std::size_t>(*position);
      change_format({out + begin, out + end}, signature.get(), own_format(), core::kCommonFormat);
    }
    return code;
  });
}

template <class Count>
int unpack(const void* packed, Count size, Count* position, void* to, Count count,
           MPI_Datatype type, MPI_Comm comm, const char* function) {
  const auto natively = [&](const void* from, Count bytes, Count* at) {
    return ISTHMUS_NATIVE(Unpack, Count)(from, bytes, at, to, count, type, comm);
  };
  if (differences.load(std::memory_order_relaxed) == Differences::None) {
    return natively(packed, size, position);
  }
  return shielded(comm, function, [&]() -> int {
    const auto signature = changing_signature(comm, type);
    const std::size_t bytes = signature && count > 0 ? packed_size(count, type) : 0;
    const auto begin = static_cast<std::size_t>(*position);
    // The library has the words for what is wrong.
    if (bytes == 0 || begin + bytes > static_cast<std::size_t>(size)) {
      return natively(packed, size, position);
    }
    check_reach_of_cpu(packed, "packed data from clusters whose processors differ");
    const auto own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::memcpy(own.get(), static_cast<const std::byte*>(packed) + begin, bytes);
    change_format({own.get(), bytes}, signature.get(), core::kCommonFormat, own_format());
    Count at = 0;
    const int code = natively(own.get(), static_cast<Count>(bytes), &at);
    if (code == MPI_SUCCESS) *position += at;
    return code;
  });
}

}  // namespace

#include "packing_entries.inc"

}  // namespace isthmus::face
