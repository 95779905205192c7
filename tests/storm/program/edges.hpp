// The topology of a communicator: who is a neighbour of whom, as the plan has it.
#pragma once

#include "step.hpp"

namespace storm {

struct Edges {
  MPI_Comm comm = MPI_COMM_NULL;  ///< not in processes that are left out
  int rank = 0, size = 0;
  bool cartesian = false;
  /// They list the neighbors of each rank of `comm` in the order of its blocks; MPI_PROC_NULL
  /// beyond an edge.
  std::vector<std::vector<int>> sources, destinations;

  [[nodiscard]] const std::vector<int>& in() const {
    return sources[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<int>& out() const {
    return destinations[static_cast<std::size_t>(rank)];
  }
  /// Which of the source's blocks comes in as this block of mine.
  [[nodiscard]] int arrival(int block) const;
  /// Some rank has two edges to another.
  [[nodiscard]] bool doubled() const;
};

/// Makes a Cartesian communicator, a graph or a distributed graph, and checks what it says of
/// itself.
Edges make_edges(Step& step);

}  // namespace storm
