// The two ends of an authenticated unix socket agree here to send their bytes by rings in shared
// memory. They do so before they say Hello; docs/protocol.md describes the exchange.
#pragma once

#include <asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

#include "core/base/ids.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net::shm {

/// On the side that has connected: gives memory for two rings. Gives the stream back as it was
/// where that cannot be had here or is not wanted there. Throws std::runtime_error where the stream
/// breaks, or does not answer within `limit`.
asio::awaitable<std::shared_ptr<Stream>> ask(std::shared_ptr<Stream> stream, core::NodeId self,
                                             std::size_t ring_bytes,
                                             std::chrono::milliseconds limit);

/// On the other side, which has read a Leg frame that offers memory. As `ask`.
asio::awaitable<std::shared_ptr<Stream>> answer(std::shared_ptr<Stream> stream, core::NodeId self,
                                                std::chrono::milliseconds limit);

}  // namespace isthmus::net::shm
