// MPI-4.1 section 8.5.5: which topology a communicator has.
#include "mpi/topology/topology_of.hpp"

#include <variant>

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"

namespace isthmus::face {
namespace {

template <class Kind>
const Kind& required(const GridComm& comm, const char* otherwise) {
  const Kind* const found = std::get_if<Kind>(comm.topology.get());
  if (found == nullptr) throw MpiError(MPI_ERR_TOPOLOGY, otherwise);
  return *found;
}

struct StatusOf {
  int operator()(const CartTopology&) const { return MPI_CART; }
  int operator()(const GraphTopology&) const { return MPI_GRAPH; }
  int operator()(const DistGraphTopology&) const { return MPI_DIST_GRAPH; }
};

}  // namespace

const CartTopology& cart_of(const GridComm& comm) {
  return required<CartTopology>(comm, "the communicator has no Cartesian topology");
}

const GraphTopology& graph_of(const GridComm& comm) {
  return required<GraphTopology>(comm, "the communicator has no graph topology");
}

const DistGraphTopology& dist_graph_of(const GridComm& comm) {
  return required<DistGraphTopology>(comm, "the communicator has no distributed graph topology");
}

ISTHMUS_MPI(Topo_test)(MPI_Comm comm, int* status) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr || status == nullptr) return native.Topo_test(comm, status);
  *status = found->topology ? std::visit(StatusOf{}, *found->topology) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
