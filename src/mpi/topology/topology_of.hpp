// The topology that a function needs, or MPI_ERR_TOPOLOGY.
#pragma once

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Throws MpiError if the communicator's topology is not of the kind.
const CartTopology& cart_of(const GridComm& comm);
const GraphTopology& graph_of(const GridComm& comm);
const DistGraphTopology& dist_graph_of(const GridComm& comm);

}  // namespace isthmus::face
