/* Shared by the programs about progress. Ranks come in pairs within one cluster. The early rank of
   a pair leaves something in progress on MPI_COMM_WORLD and enters a call on the pair's own
   communicator. The late rank needs that operation before it enters the call, too. Each program
   ends natively; it hangs where nobody looks after the early rank's part. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../checking.h"

#define WORLD MPI_COMM_WORLD

enum { kLong = 1 << 18, kTag = 7 }; /* ints: far above what a native library sends unasked */

static int rank, size, early, partner; /* partner: its world rank */
static MPI_Comm pair;
static int *out, *in, *second, *third;

static inline void start_pairs(void) {
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  CHECK(size % 4 == 0, "this program needs a multiple of four ranks");
  /* Clusters have half of the ranks each, so neighbours are of one cluster. */
  MPI_Comm_split(WORLD, rank / 2, rank, &pair);
  early = rank % 2;
  partner = rank ^ 1;
  out = malloc(sizeof(int) * kLong);
  in = malloc(sizeof(int) * kLong);
  second = malloc(sizeof(int) * kLong);
  third = malloc(sizeof(int) * kLong);
  for (int i = 0; i < kLong; ++i) out[i] = rank * 1000003 + i;
}

static inline void check_from_partner(const int* data, const char* what) {
  for (int i = 0; i < kLong; ++i)
    CHECK(data[i] == partner * 1000003 + i, "%s: element %d is %d, expected %d", what, i, data[i],
          partner * 1000003 + i);
}

/* ---- what is under way: begin() returns what the early rank leaves, need() is the late rank's */

typedef struct {
  const char* name;
  int requests;
  void (*begin)(MPI_Request*); /* on the early rank */
  void (*need)(void);          /* on the late rank: returns when the early one's part is done */
  void (*check)(void);         /* on the early rank, after its requests have completed */
} Obligation;

static inline void send_long(void) { MPI_Send(out, kLong, MPI_INT, partner, kTag, WORLD); }

static void begin_wildcard(MPI_Request* q) {
  MPI_Irecv(in, kLong, MPI_INT, MPI_ANY_SOURCE, kTag, WORLD, q);
}
static void check_wildcard(void) { check_from_partner(in, "wildcard"); }

static void begin_any_tag(MPI_Request* q) {
  MPI_Irecv(in, kLong, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, q);
}

/* A receive from a named rank that queues behind a wildcard. */
static void begin_queued(MPI_Request* q) {
  MPI_Irecv(in, kLong, MPI_INT, MPI_ANY_SOURCE, kTag, WORLD, &q[0]);
  MPI_Irecv(second, kLong, MPI_INT, partner, kTag, WORLD, &q[1]);
}
static void need_two(void) {
  send_long();
  send_long();
}
static void check_two(void) {
  check_from_partner(in, "first");
  check_from_partner(second, "second");
}

/* A persistent one that does. */
static void begin_put_off(MPI_Request* q) {
  MPI_Irecv(in, kLong, MPI_INT, MPI_ANY_SOURCE, kTag, WORLD, &q[0]);
  MPI_Recv_init(second, kLong, MPI_INT, partner, kTag, WORLD, &q[1]);
  MPI_Start(&q[1]);
}

static int sum, one = 1;
static MPI_Comm copy;
static void begin_allreduce(MPI_Request* q) {
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD, q);
}
static void need_allreduce(void) {
  MPI_Request q;
  begin_allreduce(&q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  CHECK(sum == size, "allreduce: %d", sum);
}
static void check_allreduce(void) { CHECK(sum == size, "allreduce: %d", sum); }

static void begin_bcast(MPI_Request* q) {
  if (rank == 1) memcpy(third, out, sizeof(int) * kLong);
  MPI_Ibcast(third, kLong, MPI_INT, 1, WORLD, q);
}
static void check_bcast(void) {
  for (int i = 0; i < kLong; ++i)
    CHECK(third[i] == 1000003 + i, "bcast: element %d is %d", i, third[i]);
}
static void need_bcast(void) {
  MPI_Request q;
  begin_bcast(&q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  check_bcast();
}

static void begin_barrier(MPI_Request* q) { MPI_Ibarrier(WORLD, q); }
static void need_barrier(void) {
  MPI_Request q;
  MPI_Ibarrier(WORLD, &q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void begin_idup(MPI_Request* q) { MPI_Comm_idup(WORLD, &copy, q); }
static void check_idup(void) {
  int n = 0;
  MPI_Comm_size(copy, &n);
  CHECK(n == size, "the copy has %d ranks", n);
  MPI_Comm_free(&copy);
}
static void need_idup(void) {
  MPI_Request q;
  begin_idup(&q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
  check_idup();
}

static void nothing(void) {}

static const Obligation kObligations[] = {
    {"a wildcard", 1, begin_wildcard, send_long, check_wildcard},
    {"a wildcard of any tag", 1, begin_any_tag, send_long, check_wildcard},
    {"a receive behind a wildcard", 2, begin_queued, need_two, check_two},
    {"a persistent receive behind a wildcard", 2, begin_put_off, need_two, check_two},
    {"an allreduce", 1, begin_allreduce, need_allreduce, check_allreduce},
    {"a broadcast", 1, begin_bcast, need_bcast, check_bcast},
    {"a barrier", 1, begin_barrier, need_barrier, nothing},
    {"a duplication", 1, begin_idup, need_idup, check_idup},
};
enum { kNumObligations = sizeof kObligations / sizeof *kObligations };

/* ---- calls that block, on the pair's communicator ----------------------------------------------
 */

typedef struct {
  const char* name;
  void (*call)(void);
} Call;

static int some[4], others[4];
static const int ones[2] = {1, 1}, places[2] = {0, 1};
static void c_barrier(void) { MPI_Barrier(pair); }
static void c_bcast(void) { MPI_Bcast(some, 1, MPI_INT, 0, pair); }
static void c_reduce(void) { MPI_Reduce(some, others, 1, MPI_INT, MPI_SUM, 1, pair); }
static void c_allreduce(void) { MPI_Allreduce(some, others, 1, MPI_INT, MPI_SUM, pair); }
static void c_gather(void) { MPI_Gather(some, 1, MPI_INT, others, 1, MPI_INT, 1, pair); }
static void c_gatherv(void) {
  MPI_Gatherv(some, 1, MPI_INT, others, ones, places, MPI_INT, 1, pair);
}
static void c_scatter(void) { MPI_Scatter(some, 1, MPI_INT, others, 1, MPI_INT, 0, pair); }
static void c_scatterv(void) {
  MPI_Scatterv(some, ones, places, MPI_INT, others, 1, MPI_INT, 0, pair);
}
static void c_allgather(void) { MPI_Allgather(some, 1, MPI_INT, others, 1, MPI_INT, pair); }
static void c_allgatherv(void) {
  MPI_Allgatherv(some, 1, MPI_INT, others, ones, places, MPI_INT, pair);
}
static void c_alltoall(void) { MPI_Alltoall(some, 1, MPI_INT, others, 1, MPI_INT, pair); }
static void c_alltoallv(void) {
  MPI_Alltoallv(some, ones, places, MPI_INT, others, ones, places, MPI_INT, pair);
}
static void c_reduce_scatter(void) {
  MPI_Reduce_scatter(some, others, ones, MPI_INT, MPI_SUM, pair);
}
static void c_reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(some, others, 1, MPI_INT, MPI_SUM, pair);
}
static void c_scan(void) { MPI_Scan(some, others, 1, MPI_INT, MPI_SUM, pair); }
static void c_exscan(void) { MPI_Exscan(some, others, 1, MPI_INT, MPI_SUM, pair); }
static void c_dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(pair, &made);
  MPI_Comm_free(&made);
}
static void c_split(void) {
  MPI_Comm made;
  MPI_Comm_split(pair, 0, rank, &made);
  MPI_Comm_free(&made);
}
static void c_create(void) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_group(pair, &group);
  MPI_Comm_create(pair, group, &made);
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
}
static void c_create_group(void) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_group(pair, &group);
  MPI_Comm_create_group(pair, group, 3, &made);
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
}
static void c_split_type(void) {
  MPI_Comm made;
  MPI_Comm_split_type(pair, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  MPI_Comm_free(&made);
}
static void c_cart(void) {
  MPI_Comm made;
  const int dims[1] = {2}, periods[1] = {0};
  MPI_Cart_create(pair, 1, dims, periods, 0, &made);
  MPI_Comm_free(&made);
}
static void c_intercomm(void) {
  MPI_Comm made, merged;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, pair, !early, 5, &made);
  MPI_Intercomm_merge(made, early, &merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&made);
}
/* Not MPI_Win_create: Open MPI 4.1 cannot on every host. */
static void c_win_shared(void) {
  MPI_Win win;
  int* base;
  MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, pair, &base, &win);
  MPI_Win_free(&win);
}
static void c_win_allocate(void) {
  MPI_Win win;
  int* base;
  MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, pair, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}
static void c_file(void) {
  const char* job = getenv("ISTHMUS_JOB"); /* others may run beside it, in the same folder */
  char name[128];
  MPI_File file;
  snprintf(name, sizeof name, "%.80s-progress-%d.tmp", job != NULL ? job : "native", rank / 2);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  CHECK(MPI_File_open(pair, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, "no file");
  MPI_File_write_at_all(file, early * 4, some, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}
static void c_recv(void) {
  if (early) {
    MPI_Recv(some, 1, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(some, 1, MPI_INT, 1, 1, pair);
  }
}
static void c_ssend(void) {
  if (early) {
    MPI_Ssend(some, 1, MPI_INT, 0, 1, pair);
  } else {
    MPI_Recv(some, 1, MPI_INT, 1, 1, pair, MPI_STATUS_IGNORE);
  }
}
static void c_probe(void) {
  if (early) {
    MPI_Probe(0, 1, pair, MPI_STATUS_IGNORE);
    MPI_Recv(some, 1, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(some, 1, MPI_INT, 1, 1, pair);
  }
}
static void c_mprobe(void) {
  if (early) {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 1, pair, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(some, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(some, 1, MPI_INT, 1, 1, pair);
  }
}
static void c_sendrecv(void) {
  MPI_Sendrecv(some, 1, MPI_INT, !early, 1, others, 1, MPI_INT, !early, 1, pair, MPI_STATUS_IGNORE);
}
static void c_sendrecv_replace(void) {
  MPI_Sendrecv_replace(some, 1, MPI_INT, !early, 1, !early, 1, pair, MPI_STATUS_IGNORE);
}
static void c_wait(void) {
  MPI_Request q;
  MPI_Ibarrier(pair, &q);
  MPI_Wait(&q, MPI_STATUS_IGNORE);
}
static void c_waits(void) {
  MPI_Request q[2];
  int index;
  MPI_Irecv(others, 1, MPI_INT, !early, 1, pair, &q[0]);
  MPI_Issend(some, 1, MPI_INT, !early, 1, pair, &q[1]);
  MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}
/* Not on the pair: within the cluster, but by world ranks. */
static void c_recv_world(void) {
  if (early) {
    MPI_Recv(some, 1, MPI_INT, partner, 1, WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(some, 1, MPI_INT, partner, 1, WORLD);
  }
}

static const Call kCalls[] = {
    {"MPI_Barrier", c_barrier},
    {"MPI_Bcast", c_bcast},
    {"MPI_Reduce", c_reduce},
    {"MPI_Allreduce", c_allreduce},
    {"MPI_Gather", c_gather},
    {"MPI_Gatherv", c_gatherv},
    {"MPI_Scatter", c_scatter},
    {"MPI_Scatterv", c_scatterv},
    {"MPI_Allgather", c_allgather},
    {"MPI_Allgatherv", c_allgatherv},
    {"MPI_Alltoall", c_alltoall},
    {"MPI_Alltoallv", c_alltoallv},
    {"MPI_Reduce_scatter", c_reduce_scatter},
    {"MPI_Reduce_scatter_block", c_reduce_scatter_block},
    {"MPI_Scan", c_scan},
    {"MPI_Exscan", c_exscan},
    {"MPI_Comm_dup", c_dup},
    {"MPI_Comm_split", c_split},
    {"MPI_Comm_create", c_create},
    {"MPI_Comm_create_group", c_create_group},
    {"MPI_Comm_split_type", c_split_type},
    {"MPI_Cart_create", c_cart},
    {"MPI_Intercomm_create", c_intercomm},
    {"MPI_Win_allocate_shared", c_win_shared},
    {"MPI_Win_fence", c_win_allocate},
    {"MPI_File_open", c_file},
    {"MPI_Recv", c_recv},
    {"MPI_Ssend", c_ssend},
    {"MPI_Probe", c_probe},
    {"MPI_Mprobe", c_mprobe},
    {"MPI_Sendrecv", c_sendrecv},
    {"MPI_Sendrecv_replace", c_sendrecv_replace},
    {"MPI_Wait", c_wait},
    {"MPI_Waitany", c_waits},
    {"MPI_Recv on MPI_COMM_WORLD", c_recv_world},
};
enum { kNumCalls = sizeof kCalls / sizeof *kCalls };

/* One obligation against one call. */
static inline void meet(const Obligation* o, const Call* call) {
  if (getenv("PROGRESS_TRACE")) fprintf(stderr, "%d: %s; %s\n", rank, o->name, call->name);
  if (early) {
    MPI_Request q[2];
    o->begin(q);
    call->call();
    MPI_Waitall(o->requests, q, MPI_STATUSES_IGNORE);
    o->check();
    for (int i = 0; i < o->requests; ++i)
      if (q[i] != MPI_REQUEST_NULL) MPI_Request_free(&q[i]);
  } else {
    o->need();
    call->call();
  }
}

#endif
