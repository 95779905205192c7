// Two connections of a service that are joined: what comes in at the one goes out at the other.
#pragma once

#include <asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "daemon/service/token_bucket.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::daemon {

/// The terms of one direction: its buffer, its paces (the user's rate and the key's), and a counter
/// of its bytes.
struct SpliceTerms {
  std::size_t buffer = 65536;
  TokenBucket& user;
  TokenBucket& key;
  std::function<void(std::size_t bytes)> passed;
};

/// Both ways, until either has failed or both have ended. Closing the sockets ends it.
asio::awaitable<void> splice(std::shared_ptr<net::Socket> one, std::shared_ptr<net::Socket> other,
                             SpliceTerms terms);

}  // namespace isthmus::daemon
