// Two sides of an intercommunicator, as ranks of the step's communicator.
#pragma once

#include "step.hpp"

namespace storm {

struct Sides {
  MPI_Comm inter = MPI_COMM_NULL;
  int side = 0;
  std::vector<int> members[2];  ///< in the order of their ranks on their side

  [[nodiscard]] const std::vector<int>& mine() const { return members[side]; }
  [[nodiscard]] const std::vector<int>& theirs() const { return members[1 - side]; }
  [[nodiscard]] int size() const { return static_cast<int>(mine().size()); }
  [[nodiscard]] int remote_size() const { return static_cast<int>(theirs().size()); }
};

/// Makes an intercommunicator of two parts of the step's communicator, in any way. `inter` is
/// MPI_COMM_NULL in processes that are on no side.
Sides make_sides(Step& step);

}  // namespace storm
