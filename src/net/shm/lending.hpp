// Two processes with rings find out here whether one may read the other's memory. Each says where
// it has a mark, and the other confirms that it has read the mark. docs/protocol.md describes the
// exchange.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/peer_memory.hpp"

namespace isthmus::net::shm {

/// The body of a Control frame.
struct LendingBody {
  bool read = false;  ///< the sender reads the receiver's memory; else it tells of its own:
  core::PeerMemory::Address memory{};  ///< but for the process, whom the system names
};

std::vector<std::byte> encode_lending(const LendingBody& body);
/// Empty if it is malformed, or another type of Control frame.
std::optional<LendingBody> decode_lending(std::span<const std::byte> body);

/// The process at the other end of a unix socket, as this one names it; 0: another user's, or one
/// that this process cannot name.
pid_t process_behind(int socket);

/// The exchange with one peer: what is said to it, and what its words mean. Pure but for the
/// reading of marks.
class Lending {
 public:
  struct Heard {
    bool may_lend = false;                     ///< the peer reads this process's memory
    std::optional<core::PeerMemory> memory{};  ///< of the peer, which this process reads
  };

  /// Rings to a process have come to stand; 0: to one that is not known, with which nothing is
  /// lent.
  void met(pid_t process) { process_ = process; }
  /// The conduit is open. Returns the body to send. It is empty if this process does not lend, or
  /// not by rings.
  std::vector<std::byte> connected(bool lends);
  /// The body of a Control frame from the peer. If its memory cannot be read here, no answer
  /// follows, and its messages go by the rings.
  Heard take(std::span<const std::byte> body) const;
  /// The confirmation that a peer's memory is read.
  static std::vector<std::byte> reads() { return encode_lending({.read = true}); }

 private:
  pid_t process_ = 0;
  bool told_ = false;  // where this process has its mark
};

}  // namespace isthmus::net::shm
