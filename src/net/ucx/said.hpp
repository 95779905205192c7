// Leg frames on a stream: its two ends speak about going over to UCX, or to shared memory.
#pragma once

#include <asio/awaitable.hpp>

#include "core/base/ids.hpp"
#include "net/stream/stream.hpp"
#include "net/ucx/said_body.hpp"

namespace isthmus::net::ucx {

/// Both throw std::runtime_error with a sentence, or std::system_error; `hear` Refusal, too.
asio::awaitable<void> say(Stream& stream, core::NodeId self, const Said& said);
asio::awaitable<Said> hear(Stream& stream);

}  // namespace isthmus::net::ucx
