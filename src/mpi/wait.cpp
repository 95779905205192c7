// MPI-4.1 section 3.7.3 and 3.7.5: waiting. When operations of ours need this thread, the native
// library is only tested, between rounds of progress.
#include "mpi/completion.hpp"
#include "mpi/entry.hpp"
#include "mpi/native.hpp"
#include "mpi/watch.hpp"

namespace isthmus::face {

ISTHMUS_MPI(Wait)(MPI_Request* request, MPI_Status* status) {
  if (nothing_to_watch()) return native.Wait(request, status);
  Watch watch(1, request);
  int code = MPI_SUCCESS;
  if (watch.native_can_wait() && watch.poll()) {
    code = native.Wait(request, status);
  } else {
    wait_until([&] {
      if (!watch.poll()) return false;
      int flag = 0;
      code = native.Test(request, &flag, status);
      return flag != 0 || code != MPI_SUCCESS;
    });
  }
  return finish_one(watch, 0, code, status, "MPI_Wait");
}

ISTHMUS_MPI(Waitall)(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Waitall(count, requests, statuses);
  Watch watch(count, requests);
  int code = MPI_SUCCESS;
  if (watch.native_can_wait() && watch.poll()) {
    code = native.Waitall(count, requests, statuses);
  } else {
    wait_until([&] {
      if (!watch.poll()) return false;
      int flag = 0;
      code = native.Testall(count, requests, &flag, statuses);
      return flag != 0 || code != MPI_SUCCESS;
    });
  }
  return finish_all(watch, code, count, requests, statuses, "MPI_Waitall");
}

ISTHMUS_MPI(Waitany)(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (nothing_to_watch()) return native.Waitany(count, requests, index, status);
  Watch watch(count, requests);
  int code = MPI_SUCCESS;
  if (watch.native_can_wait() && watch.poll()) {
    code = native.Waitany(count, requests, index, status);
  } else {
    wait_until([&] {
      const bool all_started = watch.poll();
      int flag = 0;
      code = native.Testany(count, requests, index, &flag, status);
      return code != MPI_SUCCESS || (flag != 0 && (*index != MPI_UNDEFINED || all_started));
    });
  }
  return finish_one(watch, *index, code, status, "MPI_Waitany");
}

ISTHMUS_MPI(Waitsome)
(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (nothing_to_watch()) return native.Waitsome(count, requests, done, indices, statuses);
  Watch watch(count, requests);
  int code = MPI_SUCCESS;
  if (watch.native_can_wait() && watch.poll()) {
    code = native.Waitsome(count, requests, done, indices, statuses);
  } else {
    wait_until([&] {
      const bool all_started = watch.poll();
      code = native.Testsome(count, requests, done, indices, statuses);
      return code != MPI_SUCCESS || (*done == MPI_UNDEFINED ? all_started : *done > 0);
    });
  }
  return finish_some(watch, code, *done, indices, statuses, "MPI_Waitsome");
}

}  // namespace isthmus::face
