// How two processes with rings find out that the one may read the other's memory: each tells where
// it has a mark, and the other says so when it has read that. docs/protocol.md tells the exchange.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/peer_memory.hpp"

namespace isthmus::net::shm {

/// The body of a Control frame.
struct LendingBody {
  bool read = false;  ///< the sender reads the receiver's memory; else it tells of its own:
  core::PeerMemory::Address memory{};  ///< but for the process, whom the system names
};

std::vector<std::byte> encode_lending(const LendingBody& body);
/// Nothing when it is malformed, or another Control frame's.
std::optional<LendingBody> decode_lending(std::span<const std::byte> body);

/// The process at the other end of a unix socket, as this one names it; 0: another user's, or one
/// that this process cannot name.
pid_t process_behind(int socket);

}  // namespace isthmus::net::shm
