// MPI-4.1 sections 3.7.3, 3.7.6 and 3.8.4: freeing, looking at and cancelling requests.

#include "mpi/native/native.hpp"
#include "mpi/request/tracked_request.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {
ISTHMUS_MPI(Request_free)(MPI_Request* request) {
  if (inner_call() || tracked.empty() || request == nullptr) return native.Request_free(request);
  const auto entry = tracked.find(key(*request));
  if (!entry) return native.Request_free(request);
  tracked.erase(entry->key);
  if (entry->object == nullptr) return native.Request_free(request);
  const core::Lock lock(progress_mutex);
  return entry->object->free(request);
}

ISTHMUS_MPI(Cancel)(MPI_Request* request) {
  if (inner_call() || tracked.empty() || request == nullptr) return native.Cancel(request);
  const auto entry = tracked.find(key(*request));
  if (!entry || entry->object == nullptr) return native.Cancel(request);
  const core::Lock lock(progress_mutex);
  return entry->object->cancel(request);
}

ISTHMUS_MPI(Request_get_status)(MPI_Request request, int* flag, MPI_Status* status) {
  if (nothing_to_watch()) return native.Request_get_status(request, flag, status);
  Watch watch(1, &request);
  if (!watch.poll()) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int code = native.Request_get_status(request, flag, status);
  if (code == MPI_SUCCESS && *flag != 0 && status != MPI_STATUS_IGNORE && watch.find(0)) {
    watch.peek(*watch.find(0), status);
  }
  return code;
}

#ifdef ISTHMUS_HAS_Request_get_status_all
ISTHMUS_MPI(Request_get_status_all)
(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Request_get_status_all(count, requests, flag, statuses);
  Watch watch(count, requests);
  if (!watch.poll()) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int code = native.Request_get_status_all(count, requests, flag, statuses);
  if (code != MPI_SUCCESS || *flag == 0 || statuses == MPI_STATUSES_IGNORE) return code;
  for (const Watch::Seen& seen : watch.seen()) watch.peek(seen, statuses + seen.index);
  return code;
}

ISTHMUS_MPI(Request_get_status_any)
(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (nothing_to_watch()) {
    return native.Request_get_status_any(count, requests, index, flag, status);
  }
  Watch watch(count, requests);
  const bool all_started = watch.poll();
  const int code = native.Request_get_status_any(count, requests, index, flag, status);
  if (*flag != 0 && *index == MPI_UNDEFINED && !all_started) *flag = 0;
  if (code != MPI_SUCCESS || *flag == 0 || *index == MPI_UNDEFINED) return code;
  if (status != MPI_STATUS_IGNORE && watch.find(*index)) {
    watch.peek(*watch.find(*index), status);
  }
  return code;
}

ISTHMUS_MPI(Request_get_status_some)
(int count, const MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (nothing_to_watch()) {
    return native.Request_get_status_some(count, requests, done, indices, statuses);
  }
  Watch watch(count, requests);
  const bool all_started = watch.poll();
  const int code = native.Request_get_status_some(count, requests, done, indices, statuses);
  if (*done == MPI_UNDEFINED && !all_started) *done = 0;
  if (code != MPI_SUCCESS || *done == MPI_UNDEFINED || statuses == MPI_STATUSES_IGNORE) {
    return code;
  }
  for (int k = 0; k < *done; ++k) {
    if (const Watch::Seen* seen = watch.find(indices[k])) watch.peek(*seen, statuses + k);
  }
  return code;
}
#endif

}  // namespace isthmus::face
