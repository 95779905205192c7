// The two ends of an authenticated stream agree here to send their bytes by UCX, before they say
// Hello. docs/protocol.md describes the exchange.
#pragma once

#include <asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/base/ids.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net::ucx {

/// Why the library cannot be opened on this host; empty: it can.
std::string library_trouble();

/// The two ends of a stream, and the time that the other end may take.
struct Ends {
  core::NodeId self = core::kNobody;
  std::chrono::milliseconds limit{5000};
};

/// On the side that has connected. Gives the stream back as it was where bytes cannot go by UCX;
/// `must`: then throws Refusal, with a sentence. Throws std::runtime_error where the stream breaks.
asio::awaitable<std::shared_ptr<Stream>> ask(std::shared_ptr<Stream> stream, Ends ends, bool must);

/// On the other side, which has read the body of a Leg frame. As `ask` without `must`.
asio::awaitable<std::shared_ptr<Stream>> answer(std::shared_ptr<Stream> stream, Ends ends,
                                                std::span<const std::byte> offer);

}  // namespace isthmus::net::ucx
