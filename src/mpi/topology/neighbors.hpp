// A process's neighbours in its communicator's topology, as neighbourhood collectives see them
// (MPI-4.1 section 8.6).
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Ranks, or MPI_PROC_NULL beyond the edge of a Cartesian topology.
struct Neighbors {
  std::vector<int> destinations;  ///< by the blocks that go out
  std::vector<int> sources;       ///< by the blocks that come in
  /// The blocks that come in, in the order in which each source sends them.
  std::vector<std::size_t> arrivals;
};

/// Throws MpiError with MPI_ERR_TOPOLOGY without a topology.
Neighbors neighbors_of(const GridComm& comm);

}  // namespace isthmus::face
