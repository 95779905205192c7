// The world ranks of a communicator's or window's ranks: known per handle until that is freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/native/native.hpp"

namespace isthmus::face::profile {

/// Immutable.
struct Members {
  /// World ranks by the ranks that calls name: in an intercommunicator the remote side's. -1 if one
  /// is not known.
  std::vector<int> world;
  /// World ranks of all processes, both sides', ascending.
  std::vector<int> all;
  /// World ranks that a neighbourhood collective sends to, in its order.
  std::vector<int> destinations;
  int rank = -1;  ///< mine, among those of my side
  bool inter = false;

  /// The number of blocks of an alltoall.
  std::uint64_t blocks() const { return world.size(); }
  bool is_root(int root) const { return inter ? root == MPI_ROOT : root == rank; }
  /// Gives data that `root` gathers.
  bool gives_to(int root) const { return !inter || root >= 0; }
};
using MembersRef = std::shared_ptr<const Members>;

/// Changes whenever a handle of a communicator, window or datatype is about to be freed: then all
/// known handles must be looked up again.
extern std::atomic<std::uint32_t> generation;

/// On the program's threads. Null without an answer: the handle is null, or the grid is.
MembersRef members_of(MPI_Comm comm);
MembersRef members_of_window(MPI_Win window);

/// Before the handle is freed.
void forget(MPI_Comm comm);
void forget_window(MPI_Win window);
void forget_datatype();

}  // namespace isthmus::face::profile
