// Data in a window has the format of the target's memory. The origin makes it so, and changes back
// what it gets. All functions throw MpiError with MPI_ERR_TYPE if it cannot.
#pragma once

#include "mpi/datatype/formats.hpp"
#include "mpi/rma/window.hpp"

namespace isthmus::face {

inline core::Format format_there(const GridWindow& window, int rank, const Signature& signature) {
  check_passes(*window.comm, rank, &signature);
  const core::Format there = format_of_node(window.comm->group.node(rank));
  check_known(signature, there);
  return there;
}

inline void change_for_target(const GridWindow& window, int rank, Outgoing& outgoing) {
  if (!window.comm->mixes_formats || outgoing.signature() == nullptr) return;
  outgoing.change_format(own_format(), format_there(window, rank, *outgoing.signature()));
}

inline void change_from_target(const GridWindow& window, int rank, Incoming& incoming) {
  if (!window.comm->mixes_formats || incoming.signature() == nullptr) return;
  incoming.change_format(format_there(window, rank, *incoming.signature()), own_format());
}

}  // namespace isthmus::face
