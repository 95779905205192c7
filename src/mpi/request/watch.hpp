// The requests given to a wait or test, with Isthmus's entries for them. Looked up before the
// native call, which sets handles to MPI_REQUEST_NULL; settled after it.
#pragma once

#include <optional>
#include <span>

#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/few_or_many.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/tracked.hpp"
#include "mpi/request/tracked_request.hpp"

namespace isthmus::face {

/// True when wait and test only need to call the native library.
inline bool nothing_to_watch() { return native_call() || (idle() && tracked.empty()); }

class Watch {
 public:
  Watch(int count, const MPI_Request* requests);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  struct Seen {
    int index = 0;
    bool settled = false;
    Tracked entry;
  };
  std::span<Seen> seen() { return seen_.all(); }
  Seen* find(int index);

  /// Lets everything progress. False while the native library takes a started persistent receive
  /// for inactive: then do not believe "all complete" and "none active".
  bool poll();
  /// After poll(), in a run whose clusters may fail: a request that stays active, with an error
  /// that the call returns. Null: the call goes on.
  struct Pending {
    int index;
    Complaint complaint;
  };
  const Pending* pending();
  /// After poll(): a native blocking call ends by itself.
  bool native_can_wait() const { return idle() && pending_.empty(); }
  /// Some of the requests are generalized or persistent ones.
  bool has_others() const { return has_others_; }
  /// The request has completed: corrects its status (if not null), forgets what is forgotten.
  Complaint settle(Seen& seen, MPI_Status* status) const;
  /// As settle, but for MPI_Request_get_status: keeps everything.
  void peek(const Seen& seen, MPI_Status* status) const;

 private:
  // In programs with threads, the native library may give the handle of a completed request to
  // another thread before this one has settled it. So entries leave the table while they are
  // watched.
  const bool taken_out_;
  bool has_others_ = false;
  FewOrMany<Seen> seen_;  // in the order of their indices
  std::optional<Pending> pending_error_;
  FewOrMany<Seen*> pending_;  // of those, the ones that need this thread before they can complete
                              // natively
};

/// The index of a request of ours that has finished, if it is quick to find; else -1.
int finished_among(int count, const MPI_Request* requests);

}  // namespace isthmus::face
