// MPI-4.1 section 3.7.3 and 3.7.5: testing.
#include "mpi/native/entry.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/completion.hpp"
#include "mpi/request/native_receives.hpp"
#include "mpi/request/test_all.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {
namespace {

/// The result if nothing has completed: a request may stay active with an error.
Ending nothing_yet(Watch& watch) {
  const Watch::Pending* const pending = watch.pending();
  return pending == nullptr ? Ending(MPI_SUCCESS) : end_pending(*pending);
}

Ending test(MPI_Request* request, int* flag, MPI_Status* status) {
  Watch watch(1, request);
  if (!watch.poll()) {
    *flag = 0;
    return Ending(MPI_SUCCESS);
  }
  const int code = native.Test(request, flag, status);
  if (*flag == 0 && code == MPI_SUCCESS) return nothing_yet(watch);
  return finish_one(watch, 0, code, status);
}

Ending test_for_all(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  Watch watch(count, requests);
  if (!watch.poll()) {
    *flag = 0;
    return Ending(MPI_SUCCESS);
  }
  const Statuses filled(count, statuses, watch.has_others());
  const int code = TestAll(watch, count, requests, filled.get())(flag);
  if (*flag == 0 && code == MPI_SUCCESS) return nothing_yet(watch);
  return finish_all(watch, code, count, requests, statuses);
}

Ending test_for_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  Watch watch(count, requests);
  const bool all_started = watch.poll();
  const int code = native.Testany(count, requests, index, flag, status);
  if (*flag != 0 && *index == MPI_UNDEFINED && !all_started) *flag = 0;
  if (*flag == 0 && code == MPI_SUCCESS) return nothing_yet(watch);
  return finish_one(watch, *index, code, status);
}

Ending test_for_some(int count, MPI_Request requests[], int* done, int indices[],
                     MPI_Status statuses[]) {
  Watch watch(count, requests);
  const bool all_started = watch.poll();
  const int code = native.Testsome(count, requests, done, indices, statuses);
  if (*done == MPI_UNDEFINED && !all_started) *done = 0;
  if (const Watch::Pending* const pending = *done == 0 ? watch.pending() : nullptr) {
    return report_pending(*pending, done, indices, statuses);
  }
  return finish_some(watch, code, *done, indices, statuses);
}

}  // namespace

ISTHMUS_MPI(Test)(MPI_Request* request, int* flag, MPI_Status* status) {
  if (nothing_to_watch()) return native.Test(request, flag, status);
  return test(request, flag, status).raised("MPI_Test");
}

ISTHMUS_MPI(Testall)(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Testall(count, requests, flag, statuses);
  return test_for_all(count, requests, flag, statuses).raised("MPI_Testall");
}

ISTHMUS_MPI(Testany)
(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (nothing_to_watch()) return native.Testany(count, requests, index, flag, status);
  if (only_native_receives()) {
    const NativeReceives receives(count, requests);
    const int code = native.Testany(count, requests, index, flag, status);
    if (*flag != 0) receives.completed(*index, status);
    return code;
  }
  return test_for_any(count, requests, index, flag, status).raised("MPI_Testany");
}

ISTHMUS_MPI(Testsome)
(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Testsome(count, requests, done, indices, statuses);
  if (only_native_receives()) {
    const NativeReceives receives(count, requests);
    const int code = native.Testsome(count, requests, done, indices, statuses);
    receives.completed(*done, indices, statuses);
    return code;
  }
  return test_for_some(count, requests, done, indices, statuses).raised("MPI_Testsome");
}

}  // namespace isthmus::face
