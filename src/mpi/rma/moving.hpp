// Packed data to and from a place in a window's memory: of another process, by calls of the system,
// or mapped here.
#pragma once

#include <cstddef>
#include <span>

#include "core/engine/peer_memory.hpp"
#include "rma/window.hpp"

namespace isthmus::face {

/// False: as for PeerMemory.
bool write_to(const core::PeerMemory& peer, const rma::Place& place,
              std::span<const std::byte> data);
bool read_from(const core::PeerMemory& peer, const rma::Place& place, std::span<std::byte> into);

/// `memory` is the window's.
void write_to(std::byte* memory, const rma::Place& place, std::span<const std::byte> data);
void read_from(const std::byte* memory, const rma::Place& place, std::span<std::byte> into);

}  // namespace isthmus::face
