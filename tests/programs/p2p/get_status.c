/* MPI_Request_get_status_any, _all and _some: they tell what MPI_Waitany and its kin would, of
   receives near and far and wildcards, and complete nothing. Not of persistent requests: looking at
   them makes those of MPICH 5.0 inactive. Ranks whose library is older than MPI-4.1 wait instead.
   ranks: 2 4 */
#include "p2p.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAVE_GET_STATUS_ARRAYS 1
#else
#define HAVE_GET_STATUS_ARRAYS 0
#endif

enum { kEach = 4, kGo = 90, kNever = 92, kMost = 64 };

static MPI_Request requests[kMost];
static MPI_Status statuses[kMost];
static int data[kMost], peer[kMost], tag[kMost], indices[kMost];
static int n;

static int value_of(int from, int to, int i) { return element(from, to, i, 0); }

/* Request i is seen to have completed: its status is right and its handle is still there. */
static void seen(int i, const MPI_Status* status, const char* what) {
  CHECK(i >= 0 && i < n && peer[i] >= 0, "%s gave index %d", what, i);
  CHECK(requests[i] != MPI_REQUEST_NULL, "%s freed request %d", what, i);
  check_status(status, peer[i], tag[i], 1, MPI_INT, what);
}

#if HAVE_GET_STATUS_ARRAYS
static void none_yet(void) {
  int flag = 7, index = 7, count = 7;
  MPI_Request_get_status_all(n, requests, &flag, statuses);
  CHECK(!flag, "MPI_Request_get_status_all says that what was not sent has come");
  MPI_Request_get_status_any(n, requests, &index, &flag, statuses);
  CHECK(!flag, "MPI_Request_get_status_any says that %d, which was not sent, has come", index);
  MPI_Request_get_status_some(n, requests, &count, indices, statuses);
  CHECK(count == 0, "MPI_Request_get_status_some says %d of what was not sent have come", count);
}

static void nothing_active(void) {
  int flag = 0, index = 7, count = 7;
  MPI_Request_get_status_all(n, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(flag, "MPI_Request_get_status_all of null requests says no");
  MPI_Request_get_status_any(n, requests, &index, &flag, statuses);
  CHECK(flag && index == MPI_UNDEFINED,
        "MPI_Request_get_status_any of null requests gave flag %d, index %d", flag, index);
  MPI_Request_get_status_some(n, requests, &count, indices, statuses);
  CHECK(count == MPI_UNDEFINED, "MPI_Request_get_status_some of null requests gave %d", count);
}

static void watch(int form) {
  int flag = 0, index = -1, count = 0, active = 0;
  for (int i = 0; i < n; ++i) active += peer[i] >= 0;
  switch (form) {
    case 0:
      while (!flag) MPI_Request_get_status_all(n, requests, &flag, statuses);
      for (int i = 0; i < n; ++i)
        if (peer[i] >= 0) seen(i, &statuses[i], "MPI_Request_get_status_all");
      break;
    case 1:
      while (!flag) MPI_Request_get_status_any(n, requests, &index, &flag, statuses);
      seen(index, statuses, "MPI_Request_get_status_any");
      break;
    case 2:
      while (count < active) {
        MPI_Request_get_status_some(n, requests, &count, indices, statuses);
        CHECK(count >= 0 && count <= active, "MPI_Request_get_status_some gave %d of %d", count,
              active);
        for (int k = 0; k < count; ++k)
          seen(indices[k], &statuses[k], "MPI_Request_get_status_some");
        /* If some are complete, MPICH 5.0 does nothing to complete the others. */
        MPI_Iprobe(MPI_ANY_SOURCE, kNever, WORLD, &flag, MPI_STATUS_IGNORE);
      }
      break;
    case 3:
      while (!flag) MPI_Request_get_status_all(n, requests, &flag, MPI_STATUSES_IGNORE);
      MPI_Request_get_status_any(n, requests, &index, &flag, MPI_STATUS_IGNORE);
      CHECK(flag && index != MPI_UNDEFINED, "all have come, and yet none of them");
      MPI_Request_get_status_some(n, requests, &count, indices, MPI_STATUSES_IGNORE);
      CHECK(count == active, "all %d have come, and yet only %d", active, count);
      break;
  }
}
#endif

/* `to` collects messages of all others. */
static void collect(int to, int form) {
  if (rank != to) {
    char go;
    MPI_Recv(&go, 1, MPI_CHAR, to, kGo, WORLD, MPI_STATUS_IGNORE);
    for (int i = kEach - 1; i >= 0; --i) {
      int value = value_of(rank, to, i);
      MPI_Send(&value, 1, MPI_INT, to, rank * kEach + i, WORLD);
    }
    return;
  }
  n = 0;
  for (int r = 0; r < size; ++r) {
    if (r == to) continue;
    for (int i = 0; i < kEach; ++i, ++n) {
      peer[n] = r, tag[n] = r * kEach + i, data[n] = -1;
      MPI_Irecv(&data[n], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : r, tag[n], WORLD, &requests[n]);
    }
    peer[n] = -1, requests[n++] = MPI_REQUEST_NULL;
  }
#if HAVE_GET_STATUS_ARRAYS
  none_yet();
#endif
  for (int r = 0; r < size; ++r)
    if (r != to) MPI_Send("g", 1, MPI_CHAR, r, kGo, WORLD);
#if HAVE_GET_STATUS_ARRAYS
  watch(form);
#else
  (void)form, (void)indices;
#endif
  MPI_Waitall(n, requests, statuses);
  for (int i = 0; i < n; ++i) {
    if (peer[i] < 0) continue;
    check_status(&statuses[i], peer[i], tag[i], 1, MPI_INT, "MPI_Waitall");
    CHECK(data[i] == value_of(peer[i], to, tag[i] % kEach), "receive %d brought %d", i, data[i]);
  }
#if HAVE_GET_STATUS_ARRAYS
  nothing_active();
#else
  (void)seen;
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(size * (kEach + 1) <= kMost, "at most %d ranks", kMost / (kEach + 1));
  for (int form = 0; form < 4; ++form) {
    collect(0, form);
    all_here(91);
    collect(size - 1, form);
    all_here(91);
  }
  return finish("get_status");
}
