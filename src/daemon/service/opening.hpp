// The first bytes of a connection to a service: whose it says it is, before it has proved it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace isthmus::daemon {

/// Names the key and the job of a connection (docs/protocol.md, Authentication).
struct Opening {
  std::string key;
  std::string job;

  std::string name() const { return key + "/" + job; }
};

constexpr std::size_t kMostOpening = 8 + 2 + 255;

struct OpeningRead {
  enum class State { Whole, Incomplete, Wrong } state = State::Incomplete;
  std::optional<Opening> opening;  ///< where it is whole
  std::string why;                 ///< where it is wrong
};

/// Reads the beginning of a connection, which may be any bytes.
OpeningRead read_opening(std::span<const unsigned char> bytes);

/// May stand in names of keys, users and jobs: letters, digits, '_', '.' and '-', at most 100, none
/// of the last two first.
bool is_name(const std::string& text);

}  // namespace isthmus::daemon
