#include "mpi/rma/moving.hpp"

#include <cstring>

#include "mpi/rma/near_memory.hpp"

namespace isthmus::face {
namespace {

core::TypeCursor cursor_of(const rma::Place& place) { return {*place.map, place.count}; }

}  // namespace

bool write_to(const core::PeerMemory& peer, const rma::Place& place,
              std::span<const std::byte> data) {
  if (place.map == nullptr) return peer.write(place.displacement, data);
  return peer.write(place.displacement, cursor_of(place), data);
}

bool read_from(const core::PeerMemory& peer, const rma::Place& place, std::span<std::byte> into) {
  if (place.map == nullptr) return peer.read(place.displacement, into);
  return peer.read(place.displacement, cursor_of(place), into);
}

void write_to(std::byte* memory, const rma::Place& place, std::span<const std::byte> data) {
  memory += place.displacement;
  if (place.map == nullptr) {
    copy_there(memory, data.data(), data.size());
  } else {
    core::TypeCursor cursor = cursor_of(place);
    core::unpack(cursor, memory, data);
  }
}

void read_from(const std::byte* memory, const rma::Place& place, std::span<std::byte> into) {
  memory += place.displacement;
  if (place.map == nullptr) {
    std::memmove(into.data(), memory, into.size());
  } else {
    core::TypeCursor cursor = cursor_of(place);
    core::pack(cursor, memory, into);
  }
}

}  // namespace isthmus::face
