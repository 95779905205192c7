// A request handle of the program behind which there is more than the native library knows. A new
// kind of request is a new class; wait, test, start, free and cancel know of no kinds.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/progress_mutex.hpp"

namespace isthmus::face {

/// An error of an operation of ours, not yet returned to the program.
struct Complaint {
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  bool raised = false;
  GridCommRef owner;  ///< of `comm`, if it is one of the grid
};

/// A request's need of waiting threads before the native library can complete it.
enum class Needs {
  Nothing,
  Progress,  ///< an operation of ours has not ended
  Start,     ///< its native start is put off: the native library takes it for inactive
};

/// Made with its handle, in the table of tracked requests until it is gone. `handle` is the
/// program's variable.
class TrackedRequest {
 public:
  virtual ~TrackedRequest() = default;
  /// Lets it go on; cheap.
  virtual Needs poll() REQUIRES(progress_mutex) = 0;
  /// Quick to find: an operation of ours has ended, so that a wait for any may return this one.
  virtual bool finished() REQUIRES(progress_mutex) { return false; }
  /// An error that waits for it return now, though it stays active. No error: they go on.
  virtual Complaint pending() REQUIRES(progress_mutex) { return {}; }
  /// A native partitioned one, which test_all.hpp is about.
  virtual bool partitioned() const { return false; }
  /// Corrects the status from the native library. Not if the request is inactive.
  virtual void describe(MPI_Status& status) const REQUIRES(progress_mutex) = 0;
  /// It has completed natively, and been described. One that is not persistent is gone after this.
  virtual Complaint settle() REQUIRES(progress_mutex) = 0;
  /// MPI_Start, without the mutex. Returns an MPI error code, raised.
  virtual int start(MPI_Request* handle) { return native.Start(handle); }
  /// MPI_Request_free; it is out of the table, and gone after this.
  virtual int free(MPI_Request* handle) REQUIRES(progress_mutex) = 0;
  virtual int cancel(MPI_Request* handle) REQUIRES(progress_mutex) { return native.Cancel(handle); }
};

/// A native persistent receive on a grid communicator: its status gets the rank in that.
class NativePersistent : public TrackedRequest {
 public:
  explicit NativePersistent(int source) : source_of_status_(source) {}
  Needs poll() override { return Needs::Nothing; }
  void describe(MPI_Status& status) const override REQUIRES(progress_mutex) {
    if (active_) status.MPI_SOURCE = source_of_status_;
  }
  Complaint settle() override {
    active_ = false;
    return {};
  }
  int start(MPI_Request* handle) override {
    active_ = true;
    return native.Start(handle);
  }
  int free(MPI_Request* handle) override {
    delete this;
    return native.Request_free(handle);
  }

 protected:
  bool active_ = false;  ///< started, natively or put off

 private:
  int source_of_status_;
};

/// Has `request` looked after by `object`, which it owns, until it is freed.
void track_persistent(MPI_Request request, std::unique_ptr<TrackedRequest> object);

}  // namespace isthmus::face
