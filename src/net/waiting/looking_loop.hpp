// The life of a thread that has an io_context for itself and moves bytes of others.
#pragma once

#include <asio/io_context.hpp>

namespace isthmus::net {

/// As `io.run()`, with a short slice for good (short_slice.hpp). After arrivals in rings it looks
/// for the next ones for a moment before it sleeps.
void run_looking(asio::io_context& io);

}  // namespace isthmus::net
