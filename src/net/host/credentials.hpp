// The knowledge that a node needs to take part in a job, and the proof of it that does not reveal
// it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/wipe.hpp"

namespace isthmus::net {

struct Credentials {
  std::string job;      ///< not secret; at most 255 bytes
  core::Secret secret;  ///< raw bytes
};

using Digest = std::array<unsigned char, 32>;

/// Throws std::runtime_error when the system has no randomness to give.
Digest random_nonce();
/// HMAC-SHA256 with the job's secret.
Digest mac(const Credentials& credentials, std::string_view text);
/// The proof of `role` ("client" or "server") that it knows the secret.
Digest proof(const Credentials& credentials, std::string_view role, const Digest& client_nonce,
             const Digest& server_nonce);
/// In constant time.
bool equal(const Digest& a, const Digest& b);

}  // namespace isthmus::net
