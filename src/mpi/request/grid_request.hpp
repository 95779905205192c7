// The objects behind request handles that Isthmus handles.
#pragma once

#include <functional>
#include <memory>

#include "mpi/request/request.hpp"
#include "mpi/request/tracked_request.hpp"

namespace isthmus::face {

/// Runs op.advance(); its exception becomes the result's error.
bool step(Operation& op) noexcept;

/// A request with an operation of ours. Its handle is a generalized request or, when persistent,
/// a native persistent receive from self, completed by a message to self with tag `bell`.
struct GridRequest final : TrackedRequest {
  MPI_Request handle = MPI_REQUEST_NULL;
  std::unique_ptr<Operation> op;  ///< null for an inactive persistent request
  bool ended = false;             ///< op has, and the native handle will complete
  bool orphan = false;            ///< the program has freed it while it was active
  bool listed = false;            ///< pump() advances it

  int bell = 0;                                       ///< 0: a generalized request
  std::function<std::unique_ptr<Operation>()> begin;  ///< of a persistent one: each start
  MPI_Comm comm = MPI_COMM_NULL;                      ///< its handler gets the operation's error
  GridCommRef owner;  ///< of `comm`, which the program may free before

  ~GridRequest() override;
  Needs poll() override REQUIRES(progress_mutex);
  bool finished() override REQUIRES(progress_mutex);
  Complaint pending() override REQUIRES(progress_mutex);
  void describe(MPI_Status& status) const override REQUIRES(progress_mutex);
  Complaint settle() override REQUIRES(progress_mutex);
  int start(MPI_Request* request) override;
  int free(MPI_Request* request) override REQUIRES(progress_mutex);
  int cancel(MPI_Request* request) override REQUIRES(progress_mutex);

  /// Advances the operation; once it has finished, lets the native handle complete.
  bool advance();
};

/// Has pump() advance a request from now on, and no longer.
void activate(GridRequest& request) REQUIRES(progress_mutex);
void deactivate(GridRequest& request) REQUIRES(progress_mutex);

/// Tags for messages from self to self on grid()->self, each used by one object at a time. Tag 0
/// is never used.
class SelfTag {
 public:
  static int acquire();
  static void release(int tag);
};

}  // namespace isthmus::face
