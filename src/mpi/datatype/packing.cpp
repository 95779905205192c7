// MPI-4.1 section 5.2: packing for a communicator whose clusters' processors differ. Packed data is
// then in the common format, so that each member can unpack it.
#include <algorithm>
#include <cstddef>

#include "mpi/comm/lookup.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Whether this packs. If not, the native library does: all members hold data alike.
bool packs_for(MPI_Comm comm, MPI_Datatype type) {
  const GridComm* const g = grid_comm(comm);
  if (g == nullptr || type == MPI_DATATYPE_NULL || !g->mixes_formats) return false;
  check_passes(*g, type);
  return true;
}

template <class Count>
int pack(const void* from, Count count, MPI_Datatype type, void* packed, Count size,
         Count* position, MPI_Comm comm, const char* function) {
  const auto natively = [&] {
    return ISTHMUS_NATIVE(Pack, Count)(from, count, type, packed, size, position, comm);
  };
  if (differences.load(std::memory_order_relaxed) == Differences::None) return natively();
  return shielded(comm, function, [&]() -> int {
    const std::size_t bytes = packs_for(comm, type) && count > 0 ? packed_size(count, type) : 0;
    const auto begin = static_cast<std::size_t>(*position);
    // The library has the words for what is wrong.
    if (bytes == 0 || begin + bytes > static_cast<std::size_t>(size)) return natively();
    Outgoing data(from, count, type);
    data.change_format(own_format(), core::kCommonFormat);
    Incoming room(static_cast<std::byte*>(packed) + begin, static_cast<MPI_Count>(bytes), MPI_BYTE);
    std::ranges::copy(data.bytes(), room.bytes().begin());
    room.finish_or_throw();
    *position += static_cast<Count>(bytes);
    return MPI_SUCCESS;
  });
}

template <class Count>
int unpack(const void* packed, Count size, Count* position, void* to, Count count,
           MPI_Datatype type, MPI_Comm comm, const char* function) {
  const auto natively = [&] {
    return ISTHMUS_NATIVE(Unpack, Count)(packed, size, position, to, count, type, comm);
  };
  if (differences.load(std::memory_order_relaxed) == Differences::None) return natively();
  return shielded(comm, function, [&]() -> int {
    const std::size_t bytes = packs_for(comm, type) && count > 0 ? packed_size(count, type) : 0;
    const auto begin = static_cast<std::size_t>(*position);
    // The library has the words for what is wrong.
    if (bytes == 0 || begin + bytes > static_cast<std::size_t>(size)) return natively();
    const Outgoing data(static_cast<const std::byte*>(packed) + begin,
                        static_cast<MPI_Count>(bytes), MPI_BYTE);
    Incoming elements(to, count, type);
    elements.change_format(core::kCommonFormat, own_format());
    std::ranges::copy(data.bytes(), elements.bytes().begin());
    elements.finish_or_throw();
    *position += static_cast<Count>(bytes);
    return MPI_SUCCESS;
  });
}

}  // namespace

#include "packing_entries.inc"

}  // namespace isthmus::face
