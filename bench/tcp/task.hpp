// The measurements, as both ends get them: the same text for plain TCP and for MPI
// (python/isthmus/measuring/tasks.py writes it, python/isthmus/measuring/p2p.c reads it too).
#pragma once

#include <cstdint>
#include <string>

namespace isthmus::tcpbench {

enum class Figure {
  Pingpong,       ///< pingpong:BYTES:ROUNDS
  Stream,         ///< stream:BYTES:ROUNDS:SECONDS, one way
  Bidirectional,  ///< bidirectional:BYTES:ROUNDS:SECONDS
  Rate,           ///< rate:BYTES:ROUNDS:SECONDS, one write a message
  Loaded,         ///< loaded:BYTES:TOTAL, round trips while TOTAL bytes go the pings' way
};

struct Task {
  std::string text;
  Figure figure = Figure::Pingpong;
  std::uint64_t bytes = 0;  ///< of a message
  int rounds = 1;
  double seconds = 0;       ///< that a round should last
  std::uint64_t total = 0;  ///< Loaded only
};

/// Throws std::invalid_argument with a sentence that quotes the text.
Task parse_task(const std::string& text);

}  // namespace isthmus::tcpbench
