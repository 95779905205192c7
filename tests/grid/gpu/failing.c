/* The driver of one rank fails in a collective, or in access to a file or a window. No rank gets
 * other data without an error, and none waits forever. Four ranks, in two clusters. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "checks.h"

void gpu_fail_after(int to_host, size_t bytes); /* device_memory.h */

enum { COUNT = 200003, FAILS = 1, RANKS = 4 };
static int *out, *in, fails_to_host;
static MPI_Comm comm;

static void is_wrong(const char* what) {
  printf("rank %d: %s: %s\n", rank, doing, what);
  wrong = 1;
}
static void clear(int* device) {
  int* const host = calloc((size_t)RANKS * COUNT, sizeof(int));
  gpu_write(device, host, (size_t)RANKS * COUNT * sizeof(int));
  free(host);
}

static int waited(int code, MPI_Request* request) {
  return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}
static int bcast(void) { return MPI_Bcast(rank == FAILS ? out : in, COUNT, MPI_INT, FAILS, comm); }
static int reduce(void) { return MPI_Reduce(out, in, COUNT, MPI_INT, MPI_MAX, 0, comm); }
static int allreduce(void) { return MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_MIN, comm); }
static int scan(void) { return MPI_Scan(out, in, COUNT, MPI_INT, MPI_MIN, comm); }
static int gather(void) { return MPI_Gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, comm); }
static int scatter(void) {
  return MPI_Scatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, FAILS, comm);
}
static int allgather(void) { return MPI_Allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm); }
static int alltoall(void) { return MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm); }
static int immediate(void) {
  MPI_Request request;
  return waited(MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_MIN, comm, &request), &request);
}
#if MPI_VERSION >= 4
static int persistent(void) {
  MPI_Request request;
  gpu_fail_after(fails_to_host, SIZE_MAX); /* not in its checks */
  MPI_Allreduce_init(out, in, COUNT, MPI_INT, MPI_MIN, comm, MPI_INFO_NULL, &request);
  if (rank == FAILS) gpu_fail_after(fails_to_host, 0);
  const int code = waited(MPI_Start(&request), &request);
  MPI_Request_free(&request);
  return code;
}
#endif

/* Every rank's `out` is 1, 2, 3..., so every element of a result that is there is its index + 1. */
static void collectives(int to_host) {
  fails_to_host = to_host;
  static const struct {
    const char* name;
    int (*call)(void);
    int receivers; /* a mask */
  } all[] = {
    {"MPI_Bcast", bcast, 13},
    {"MPI_Reduce", reduce, 1},
    {"MPI_Allreduce", allreduce, 15},
    {"MPI_Scan", scan, 14},
    {"MPI_Gather", gather, 1},
    {"MPI_Scatter", scatter, 15},
    {"MPI_Allgather", allgather, 15},
    {"MPI_Alltoall", alltoall, 15},
    {"MPI_Iallreduce", immediate, 15},
#if MPI_VERSION >= 4
    {"MPI_Allreduce_init", persistent, 15},
#endif
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    doing = all[i].name;
    clear(in);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == FAILS) gpu_fail_after(to_host, 0);
    const int code = all[i].call();
    gpu_fail_after(to_host, SIZE_MAX);
    const int receives = all[i].receivers >> rank & 1;
    const int calls_driver = to_host ? rank == FAILS : rank == FAILS && receives;
    if (calls_driver && !code) is_wrong("no error where the driver fails");
    if (receives && !code) {
      const int own = all[i].call == scatter || all[i].call == alltoall;
      expect_run(in, COUNT, 1 + (own ? rank * COUNT : 0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void files(const char* name) {
  MPI_File file;
  MPI_Status status;
  const MPI_Offset at = (MPI_Offset)rank * COUNT * (MPI_Offset)sizeof(int);
  doing = "a file";
  if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) {
    is_wrong("cannot be opened");
    return;
  }
  MPI_File_write_at_all(file, at, out, COUNT, MPI_INT, &status);
  for (int collective = 0; collective < 2; ++collective) {
    doing = collective ? "MPI_File_write_at_all" : "MPI_File_write_at";
    if (rank == FAILS) gpu_fail_after(1, 0);
    int code = (collective ? MPI_File_write_at_all : MPI_File_write_at)(file, at, out + COUNT,
                                                                        COUNT, MPI_INT, &status);
    gpu_fail_after(1, SIZE_MAX);
    if (!code != (rank != FAILS)) is_wrong(code ? "an error" : "no error");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    doing = collective ? "MPI_File_read_at_all" : "MPI_File_read_at";
    clear(in);
    if (rank == FAILS) gpu_fail_after(0, 0);
    code = (collective ? MPI_File_read_at_all : MPI_File_read_at)(file, at, in, COUNT, MPI_INT,
                                                                  &status);
    gpu_fail_after(0, SIZE_MAX);
    if (!code != (rank != FAILS)) is_wrong(code ? "an error" : "no error");
    if (!code) expect_run(in, COUNT, 1 + COUNT);
    clear(in);
    MPI_File_read_at(file, (MPI_Offset)FAILS * COUNT * (MPI_Offset)sizeof(int), in, COUNT, MPI_INT,
                     &status);
    expect_run(in, COUNT, 1); /* as before the write that failed */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
}

static void windows(void) {
  MPI_Win win;
  clear(in);
  MPI_Win_create(in, COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (rank == FAILS) {
    for (int target = 0; target < RANKS; ++target) {
      if (target == rank) continue;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      doing = "MPI_Put from a device that fails";
      gpu_fail_after(1, 0);
      int code = MPI_Put(out, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, win);
      if (!code) code = MPI_Win_flush(target, win);
      gpu_fail_after(1, SIZE_MAX);
      if (!code) is_wrong("no error");
      doing = "MPI_Get to a device that fails";
      gpu_fail_after(0, 0);
      code = MPI_Get(out + COUNT, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, win);
      if (!code) code = MPI_Win_flush(target, win);
      gpu_fail_after(0, SIZE_MAX);
      if (!code) is_wrong("no error");
      MPI_Win_unlock(target, win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  doing = "memory that a put has not changed";
  for (int i = 0; i < COUNT; i += 1000) expect(in, i, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  out = on_device(RANKS * COUNT, 1);
  in = on_device(RANKS * COUNT, 0);
  collectives(1);
  collectives(0);
  files(argv[1]);
  windows();
  return ended(NULL);
}
