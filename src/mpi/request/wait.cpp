// MPI-4.1 section 3.7.3 and 3.7.5: waiting. When operations of ours need this thread, the native
// library is only tested, between rounds of progress.
#include <optional>

#include "mpi/native/entry.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/calling.hpp"
#include "mpi/request/completion.hpp"
#include "mpi/request/native_receives.hpp"
#include "mpi/request/test_all.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {
namespace {

/// Describes a wait for requests.
auto waiting_in(const char* function, int requests) {
  return [function, requests](WaitingFor& wait) {
    wait.call = function;
    wait.requests = requests;
  };
}

Ending wait(MPI_Request* request, MPI_Status* status) {
  const Calling here("MPI_Wait");
  Watch watch(1, request);
  const Watch::Pending* pending = nullptr;
  int code = MPI_SUCCESS;
  if (watch.poll() && watch.native_can_wait()) {
    code = native.Wait(request, status);
  } else {
    const auto described = waiting_in("MPI_Wait", 1);
    wait_until(
        [&] {
          if (!watch.poll()) return false;
          int flag = 0;
          code = native.Test(request, &flag, status);
          if (flag != 0 || code != MPI_SUCCESS) return true;
          return (pending = watch.pending()) != nullptr;
        },
        Describe(described));
  }
  return pending != nullptr ? end_pending(*pending) : finish_one(watch, 0, code, status);
}

/// Empty: a request stays active with an error, and all are to be tested one by one.
std::optional<Ending> wait_for_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const Calling here("MPI_Waitall");
  Watch watch(count, requests);
  const Statuses filled(count, statuses, watch.has_others());
  int code = MPI_SUCCESS;
  if (watch.poll() && watch.native_can_wait()) {
    code = native.Waitall(count, requests, filled.get());
  } else {
    const Watch::Pending* pending = nullptr;
    TestAll test_all(watch, count, requests, filled.get());
    const auto described = waiting_in("MPI_Waitall", count);
    wait_until(
        [&] {
          if (!watch.poll()) return false;
          int flag = 0;
          code = test_all(&flag);
          if (flag != 0 || code != MPI_SUCCESS) return true;
          return (pending = watch.pending()) != nullptr;
        },
        Describe(described));
    if (pending != nullptr) return std::nullopt;
  }
  return finish_all(watch, code, count, requests, statuses);
}

Ending wait_for_any(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const Calling here("MPI_Waitany");
  Watch watch(count, requests);
  const Watch::Pending* pending = nullptr;
  int code = MPI_SUCCESS;
  if (watch.poll() && watch.native_can_wait()) {
    code = native.Waitany(count, requests, index, status);
  } else {
    const auto described = waiting_in("MPI_Waitany", count);
    wait_until(
        [&] {
          const bool all_started = watch.poll();
          int flag = 0;
          code = native.Testany(count, requests, index, &flag, status);
          if (code != MPI_SUCCESS || (flag != 0 && (*index != MPI_UNDEFINED || all_started))) {
            return true;
          }
          return (pending = watch.pending()) != nullptr;
        },
        Describe(described));
  }
  if (pending != nullptr) {
    *index = pending->index;
    return end_pending(*pending);
  }
  return finish_one(watch, *index, code, status);
}

Ending wait_for_some(int count, MPI_Request requests[], int* done, int indices[],
                     MPI_Status statuses[]) {
  const Calling here("MPI_Waitsome");
  Watch watch(count, requests);
  const Watch::Pending* pending = nullptr;
  int code = MPI_SUCCESS;
  if (watch.poll() && watch.native_can_wait()) {
    code = native.Waitsome(count, requests, done, indices, statuses);
  } else {
    const auto described = waiting_in("MPI_Waitsome", count);
    wait_until(
        [&] {
          const bool all_started = watch.poll();
          code = native.Testsome(count, requests, done, indices, statuses);
          const bool some = *done == MPI_UNDEFINED ? all_started : *done > 0;
          if (code != MPI_SUCCESS || some) return true;
          return (pending = watch.pending()) != nullptr;
        },
        Describe(described));
  }
  if (pending != nullptr) return report_pending(*pending, done, indices, statuses);
  return finish_some(watch, code, *done, indices, statuses);
}

}  // namespace

ISTHMUS_MPI(Wait)(MPI_Request* request, MPI_Status* status) {
  if (nothing_to_watch()) return native.Wait(request, status);
  return wait(request, status).raised("MPI_Wait");
}

ISTHMUS_MPI(Waitall)(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Waitall(count, requests, statuses);
  const auto ending = wait_for_all(count, requests, statuses);
  return ending ? ending->raised("MPI_Waitall") : test_each(count, requests, statuses);
}

ISTHMUS_MPI(Waitany)(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (nothing_to_watch()) return native.Waitany(count, requests, index, status);
  if (only_native_receives()) {
    const NativeReceives receives(count, requests);
    const int code = native.Waitany(count, requests, index, status);
    receives.completed(*index, status);
    return code;
  }
  if (const int finished = finished_among(count, requests); finished >= 0) {
    *index = finished;
    return isthmus_Wait(&requests[finished], status);
  }
  return wait_for_any(count, requests, index, status).raised("MPI_Waitany");
}

ISTHMUS_MPI(Waitsome)
(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Waitsome(count, requests, done, indices, statuses);
  if (only_native_receives()) {
    const NativeReceives receives(count, requests);
    const int code = native.Waitsome(count, requests, done, indices, statuses);
    receives.completed(*done, indices, statuses);
    return code;
  }
  return wait_for_some(count, requests, done, indices, statuses).raised("MPI_Waitsome");
}

}  // namespace isthmus::face
