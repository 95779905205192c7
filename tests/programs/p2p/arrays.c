/* Waits and tests on arrays of every length and mixture: near and far in blocks and alternating,
   with and without statuses. Null, inactive and persistent requests are among them. ranks: 4 */
#include "p2p.h"

enum { kMax = 10000 };
enum { kBlocks, kBlocksFarLast, kAlternating, kWithOthers, kNumMixtures };
enum { kWaitall, kTestall, kWaitsome, kTestsome, kWaitany, kTestany, kNumWays };

static int in[kMax], out[kMax], where[kMax];
static MPI_Request q[kMax], sends[kMax], inactive[2];
static MPI_Status statuses[kMax];
static char seen[kMax];

/* The peer of the request at i; -1: another kind of request stands there. */
static int peer_of(int i, int n, int mixture) {
  const int far = (rank + size / 2) % size, near = rank ^ 1;
  switch (mixture) {
    case kBlocks:
      return i < n / 2 ? far : near;
    case kBlocksFarLast:
      return i < n / 2 ? near : far;
    case kAlternating:
      return i % 2 ? far : near;
    default:
      return i % 5 == 0 ? -1 : i % 2 ? far : near;
  }
}

static void check_one(int i, int n, int mixture, const MPI_Status* status) {
  const int peer = peer_of(i, n, mixture);
  CHECK(peer >= 0, "n %d, mixture %d: request %d completed, but was never begun", n, mixture, i);
  CHECK(!seen[i], "n %d, mixture %d: request %d completed twice", n, mixture, i);
  seen[i] = 1;
  CHECK(in[i] == element(peer, rank, n, i), "n %d, mixture %d: message %d from %d is %d", n,
        mixture, i, peer, in[i]);
  if (status != NULL) check_status(status, peer, i, 1, MPI_INT, "array");
}

/* Completes the n receives of q in one way. */
static void complete(int n, int mixture, int way, int ignore) {
  int left = 0, done = 0, flag = 0, index = 0;
  for (int i = 0; i < n; ++i) left += peer_of(i, n, mixture) >= 0;
  MPI_Status* const all = ignore ? MPI_STATUSES_IGNORE : statuses;
  if (way == kWaitall || way == kTestall) {
    if (way == kWaitall) MPI_Waitall(n, q, all);
    while (way == kTestall && !flag) MPI_Testall(n, q, &flag, all);
    for (int i = 0; i < n; ++i)
      if (peer_of(i, n, mixture) >= 0) check_one(i, n, mixture, ignore ? NULL : &statuses[i]);
    return;
  }
  while (left > 0) {
    done = 1;
    flag = 1;
    if (way == kWaitsome) MPI_Waitsome(n, q, &done, where, all);
    if (way == kTestsome) MPI_Testsome(n, q, &done, where, all);
    if (way == kWaitany) MPI_Waitany(n, q, where, ignore ? MPI_STATUS_IGNORE : statuses);
    if (way == kTestany) MPI_Testany(n, q, where, &flag, ignore ? MPI_STATUS_IGNORE : statuses);
    if (!flag) continue;
    CHECK(done != MPI_UNDEFINED && where[0] != MPI_UNDEFINED,
          "n %d, mixture %d, way %d: nothing is active, but %d receives are", n, mixture, way,
          left);
    for (int k = 0; k < done; ++k) check_one(where[k], n, mixture, ignore ? NULL : &statuses[k]);
    left -= done;
  }
  MPI_Waitany(n, q, &index, statuses);
  CHECK(index == MPI_UNDEFINED, "n %d, mixture %d: request %d is active at the end", n, mixture,
        index);
}

static void exchange(int n, int mixture, int way, int ignore) {
  int number = 0;
  for (int i = 0; i < n; ++i) {
    const int peer = peer_of(i, n, mixture);
    seen[i] = 0;
    in[i] = -1;
    q[i] = peer >= 0 ? MPI_REQUEST_NULL : i % 10 == 0 ? MPI_REQUEST_NULL : inactive[i / 5 % 2];
    if (peer < 0) continue;
    MPI_Irecv(&in[i], 1, MPI_INT, peer, i, WORLD, &q[i]);
  }
  /* An inactive request may stand in an array once only. */
  for (int i = 0, a = 0, b = 0; i < n; ++i) {
    if (q[i] == inactive[0] && a++ > 0) q[i] = MPI_REQUEST_NULL;
    if (q[i] == inactive[1] && b++ > 0) q[i] = MPI_REQUEST_NULL;
  }
  for (int i = 0; i < n; ++i) {
    const int peer = peer_of(i, n, mixture);
    if (peer < 0) continue;
    out[i] = element(rank, peer, n, i);
    MPI_Isend(&out[i], 1, MPI_INT, peer, i, WORLD, &sends[number++]);
  }
  complete(n, mixture, way, ignore);
  MPI_Waitall(number, sends, ignore ? MPI_STATUSES_IGNORE : statuses);
}

/* Persistent receives, near and far, as an array of their own. */
static void persistent(int n) {
  for (int i = 0; i < n; ++i) {
    const int peer = peer_of(i, n, kAlternating);
    MPI_Recv_init(&in[i], 1, MPI_INT, peer, i, WORLD, &q[i]);
    MPI_Send_init(&out[i], 1, MPI_INT, peer, i, WORLD, &sends[i]);
    out[i] = element(rank, peer, n, i);
  }
  for (int round = 0; round < 2; ++round) {
    memset(seen, 0, sizeof seen);
    MPI_Startall(n, q);
    MPI_Startall(n, sends);
    MPI_Waitall(n, q, round ? MPI_STATUSES_IGNORE : statuses);
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) check_one(i, n, kAlternating, round ? NULL : &statuses[i]);
  }
  for (int i = 0; i < n; ++i) {
    MPI_Request_free(&q[i]);
    MPI_Request_free(&sends[i]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int far = (rank + size / 2) % size, near = rank ^ 1;
  MPI_Recv_init(in, 1, MPI_INT, far, 0, WORLD, &inactive[0]);
  MPI_Recv_init(in, 1, MPI_INT, near, 0, WORLD, &inactive[1]);
  const int lengths[] = {1, 63, 64, 65, 128, 129};
  for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; ++l)
    for (int mixture = 0; mixture < kNumMixtures; ++mixture)
      for (int way = 0; way < kNumWays; ++way)
        for (int ignore = 0; ignore < 2; ++ignore) exchange(lengths[l], mixture, way, ignore);
  for (int way = 0; way < kNumWays; ++way) exchange(1000, way % kNumMixtures, way, way % 2);
  exchange(kMax, kBlocksFarLast, kWaitall, 1);
  exchange(kMax, kAlternating, kWaitany, 0);
  persistent(65);
  persistent(1000);
  MPI_Request_free(&inactive[0]);
  MPI_Request_free(&inactive[1]);
  return finish("arrays");
}
