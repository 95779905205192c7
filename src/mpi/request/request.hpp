// Requests that Isthmus handles. A grid operation behind a request of the program has the handle of
// a generalized request. A persistent one has that of a native persistent receive from self,
// completed by a message to self. So arrays that mix native and grid requests work natively: wait
// and test make progress until the native call itself can finish.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/waits.hpp"

namespace isthmus::face {

/// An operation's values for its MPI_Status.
struct Result {
  int source = MPI_PROC_NULL;
  int tag = MPI_ANY_TAG;
  std::uint64_t bytes = 0;
  bool cancelled = false;
  int error = MPI_SUCCESS;  ///< e.g. MPI_ERR_TRUNCATE
  bool raised = false;      ///< the native library has already called the error handler
};

/// A grid operation that the program's threads help along: a send or receive between clusters, a
/// held receive, a collective, a duplication under way.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Called under the progress lock. Cheap. True once finished (then `result` is set and the
  /// program's buffers are as MPI promises), and never called again.
  virtual bool advance() = 0;
  /// After an advance(), if no other operation of this process needs one: sleeps in the native
  /// library until advance() has work. False: it may not, and has done nothing.
  virtual bool block() { return false; }
  /// After an advance(): it waits for processes of this host, which end that in memory that
  /// advance() looks at.
  virtual bool near() const { return false; }
  /// If near(): sleeps until they do, for at most `limit`.
  virtual void nap(std::chrono::microseconds limit) { static_cast<void>(limit); }
  /// Describes the operation for a thread that waits for it; `wait` has the call and the
  /// communicator.
  virtual void describe(WaitingFor& wait) const { static_cast<void>(wait); }
  /// MPI_Cancel: best effort; success shows in result.cancelled.
  virtual void cancel() {}
  /// In a run whose clusters may fail: ends it early, without a result. The program's memory is
  /// free then. False: it must go on.
  virtual bool give_up() { return false; }
  /// In a run whose clusters may fail: an error that a wait for its request returns, though it goes
  /// on (MPI_ERR_PROC_FAILED_PENDING). Under the progress lock.
  virtual int pending_error() { return MPI_SUCCESS; }
  Result result;
  MPI_Comm comm = MPI_COMM_NULL;  ///< its error handler gets result.error
  /// Only its own waiter depends on advance(): others do the rest. Such operations leave the rest
  /// of the program at native speed. Unless `guarded`, the waiter does not take the progress lock.
  bool passive = false;
  bool guarded = false;
  bool blocking = false;  ///< complete() drives it
};

/// Drives `operation` to its end for a blocking call; fills `status` unless it is ignored. Returns
/// its error, which is not raised.
int drive(Operation& operation, MPI_Status* status, const char* function);
/// The same in a call that is shielded. Throws Unraised; returns an error if the native library has
/// raised it.
int complete(Operation& operation, MPI_Status* status, const char* function);

/// Hands `operation` to the program as a request. It advances from now on in every wait and test
/// (and other blocking call), and is destroyed when the request is freed.
int make_request(std::unique_ptr<Operation> operation, MPI_Request* request);

/// Keeps an operation that is behind no request until it has ended. It advances as those that are.
void keep(std::unique_ptr<Operation> operation);

/// Cancels an operation that was begun for nothing, and keeps it.
void abandon(std::unique_ptr<Operation> operation);

/// Makes an inactive persistent request; each MPI_Start calls `start` and drives what it returns.
/// `start` may throw MpiError. Errors are raised on `comm`.
int make_persistent(MPI_Comm comm, std::function<std::unique_ptr<Operation>()> start,
                    MPI_Request* request);

/// Remembers that a native receive request was made on a grid communicator, so that wait and test
/// give the status the rank in that communicator: `source`. Fast path: tens of ns.
void track_receive(MPI_Request request, int source);

/// Gives a status of a native receive or probe on `comm` the rank in `comm`.
void translate(const GridComm& comm, MPI_Status* status);
/// Writes a Result into a status (not ignored) the native way.
void fill_status(const Result& result, MPI_Status* status);
/// Payload of the message of a native status.
std::uint64_t bytes_of(const MPI_Status& status);

}  // namespace isthmus::face
