// The figures over plain TCP: the wire's own performance for a program without MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "tcp/connection.hpp"
#include "tcp/task.hpp"

namespace isthmus::tcpbench {

/// The results of one task: a sample each. `messages` is filled for figures that count messages.
struct Samples {
  std::vector<double> seconds;
  std::vector<std::uint64_t> messages;
};

/// Two connections between two players; `bulk` carries the data of `Loaded` besides the pings.
struct Pair {
  Connection talk;
  Connection bulk;
};

/// Both ends call it with the same task; the leader starts, measures, and gets samples.
Samples play(const Task& task, const Pair& pair, bool leader);

}  // namespace isthmus::tcpbench
