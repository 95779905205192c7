// Point to point, below the entries: shared by the blocking, non-blocking, persistent and combined
// forms. `Count` is int or MPI_Count throughout.
#pragma once

#include <atomic>
#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/comm/own_comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/native/wildcards.hpp"
#include "mpi/p2p/native_operation.hpp"
#include "mpi/p2p/operations.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

enum class Mode { Standard, Synchronous, Buffered, Ready };
constexpr Copy copy_for(Mode mode) { return mode == Mode::Buffered ? Copy::Always : Copy::Flowing; }

/// The native functions of a mode.
template <Mode mode, class Count>
auto native_send() {
  if constexpr (mode == Mode::Standard) return ISTHMUS_NATIVE(Send, Count);
  if constexpr (mode == Mode::Synchronous) return ISTHMUS_NATIVE(Ssend, Count);
  if constexpr (mode == Mode::Buffered) return ISTHMUS_NATIVE(Bsend, Count);
  if constexpr (mode == Mode::Ready) return ISTHMUS_NATIVE(Rsend, Count);
}
template <Mode mode, class Count>
auto native_isend() {
  if constexpr (mode == Mode::Standard) return ISTHMUS_NATIVE(Isend, Count);
  if constexpr (mode == Mode::Synchronous) return ISTHMUS_NATIVE(Issend, Count);
  if constexpr (mode == Mode::Buffered) return ISTHMUS_NATIVE(Ibsend, Count);
  if constexpr (mode == Mode::Ready) return ISTHMUS_NATIVE(Irsend, Count);
}

/// The native rank of a member of this cluster, if a blocking call on MPI_COMM_WORLD needs only the
/// native call with that rank. Otherwise, or if it is not sure, -1. Calls nothing, so that a
/// caller's arguments stay in their registers and the native call is a jump.
inline int plain_rank(MPI_Comm comm, int rank) {
  const GridComm* const world = world_comm.load(std::memory_order_acquire);
  if (world == nullptr || comm != MPI_COMM_WORLD || inner_call() || !idle()) return -1;
  if (!world->probed.none()) return -1;
  const auto i = static_cast<unsigned>(rank) - static_cast<unsigned>(world->first_member);
  return i < world->contiguous ? static_cast<int>(i) : -1;
}
/// True when a blocking native call may simply block.
inline bool may_block() { return native_call() || idle(); }

/// Waits for a native request while operations of ours progress.
int wait_native(MPI_Request* request, MPI_Status* status);

/// MPI_SUCCESS, or what the error handler left of a rank that is not one of the communicator
/// (MPI_PROC_NULL is; MPI_ANY_SOURCE when `any`).
int check_rank(const GridComm& g, int rank, bool any, const char* function);

/// Lets the native library judge count, datatype and tag (a call with MPI_PROC_NULL does it all
/// but send), on the handler of `comm`.
template <Mode mode, class Count>
int check_send(const void* buffer, Count count, MPI_Datatype type, int tag, MPI_Comm comm) {
  return native_send<mode, Count>()(buffer, count, type, MPI_PROC_NULL, tag, comm);
}
template <class Count>
int check_receive(void* buffer, Count count, MPI_Datatype type, int tag, MPI_Comm comm) {
  return ISTHMUS_NATIVE(Recv, Count)(buffer, count, type, MPI_PROC_NULL, tag, comm,
                                     MPI_STATUS_IGNORE);
}

/// Takes a message into the buffer attached for `comm`; see bsend.cpp. Throws MpiError.
void send_buffered(const GridComm& g, Outgoing outgoing, int destination, int tag);

/// A receive from the rank `source`, or MPI_PROC_NULL, goes to the native library without being
/// held.
inline void note_receive(const GridComm& g, int source, int tag) {
  if (source >= 0) g.probed.forget(source, engine_tag(tag));
}

/// True when a receive from the member `source` of this cluster must queue behind held ones. Call
/// it, and act on it, under the progress lock.
inline bool must_queue(const GridComm& g, int source, int tag) {
  return g.held && g.held->overlaps(source, tag);
}

/// A send to another cluster, begun; arguments have been checked.
template <Mode mode>
std::unique_ptr<Operation> start_remote_send(const GridComm& g, Outgoing outgoing, int destination,
                                             int tag);

/// A receive on a grid communicator that the native library cannot do alone (from another
/// cluster, from anywhere, or queued), begun; arguments have been checked.
std::unique_ptr<Operation> start_grid_receive(GridComm& g, Incoming incoming, int source, int tag);

/// A send or receive of any kind, begun as an operation. On an error that has been raised, null
/// and *code. May throw MpiError.
template <Mode mode, class Count>
std::unique_ptr<Operation> start_send(GridComm& g, const void* buffer, Count count,
                                      MPI_Datatype type, int destination, int tag,
                                      const char* function, int* code);
template <class Count>
std::unique_ptr<Operation> start_receive(GridComm& g, void* buffer, Count count, MPI_Datatype type,
                                         int source, int tag, const char* function, int* code);

}  // namespace isthmus::face

#include "mpi/p2p/p2p_start.hpp"
