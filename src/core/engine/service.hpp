// Messages that no receive takes: those of a served context are handed over as they come, without
// calls of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/ids.hpp"
#include "core/wire/message.hpp"

namespace isthmus::core {

/// Contexts with this bit are served; the others are matched with receives.
inline constexpr std::uint64_t kServiceContext = std::uint64_t{1} << 60;

/// The longest message of a service. Also the most bytes of one context and one peer that a process
/// may have taken in and not handed over, beside the window.
inline constexpr std::size_t kMostServiceBytes = std::size_t{1} << 20;

/// Takes the messages of a context. Called inside the engine's calls, on whichever thread has the
/// I/O's turn: it may send and receive, throws nothing, calls no MPI and never blocks.
class Service {
 public:
  /// A message has come whole; those of one peer in the order in which they were sent. `bytes` are
  /// the engine's, until this returns. Ends no service. False: the peer breaks the protocol.
  [[nodiscard]] virtual bool take(NodeId from, const Envelope& envelope,
                                  std::span<const std::byte> bytes) = 0;
  /// Processes `first` and the `count - 1` behind it have failed (Engine::fail): nothing more comes
  /// from them. Called as take().
  virtual void fail(NodeId first, NodeId count) {
    static_cast<void>(first);
    static_cast<void>(count);
  }

 protected:
  ~Service() = default;
};

}  // namespace isthmus::core
