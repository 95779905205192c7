// Single messages between two members of a grid communicator, outside its collectives: for
// functions that not all members call (MPI_Comm_create_group). They keep the program's other
// operations going while they wait.
#pragma once

#include <functional>
#include <optional>

#include "coll/engine/party.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Returns the loss of a call of several members, if one of them has failed.
using Lost = std::function<std::optional<Loss>()>;

/// `tag` is the program's (0..MPI_TAG_UB); messages with different tags do not meet. Returns when
/// `data` may be reused, or has come; a receive's size equals its message's. In a run whose
/// clusters may fail, `tag` may be any number from 0 on, and a loss ends the wait: throws MpiError.
void courier_send(const GridComm& comm, int rank, int tag, coll::ConstBytes data, const Lost& lost);
void courier_recv(const GridComm& comm, int rank, int tag, coll::Bytes data, const Lost& lost);

}  // namespace isthmus::face
