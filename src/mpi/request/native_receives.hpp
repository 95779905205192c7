// Waits for any of many requests if those that Isthmus handles are all native receives: of a
// thousand requests, only those that complete are looked up.
#pragma once

#include <vector>

#include "mpi/native/native.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/request/tracked.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {

/// In programs with threads, a completed request's handle may be another's before it is looked up.
inline bool only_native_receives() {
  return idle() && tracked.only_receives() && !threads_multiple();
}

class NativeReceives {
 public:
  /// Before the native call, which sets handles to MPI_REQUEST_NULL.
  NativeReceives(int count, const MPI_Request* requests)
      : handles_(requests, requests + (requests == nullptr || count < 0 ? 0 : count)) {}

  /// The request at `index` (or MPI_UNDEFINED) has completed; `status` may be ignored.
  void completed(int index, MPI_Status* status) const {
    if (index < 0 || index >= static_cast<int>(handles_.size())) return;
    const auto entry = tracked.find(key(handles_[static_cast<std::size_t>(index)]));
    if (!entry) return;
    tracked.erase(entry->key);
    if (status != MPI_STATUS_IGNORE) status->MPI_SOURCE = entry->source;
  }
  /// The same for `done` (or MPI_UNDEFINED) of them.
  void completed(int done, const int* indices, MPI_Status* statuses) const {
    for (int k = 0; k < done; ++k) {
      completed(indices[k], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + k);
    }
  }

 private:
  std::vector<MPI_Request> handles_;
};

}  // namespace isthmus::face
