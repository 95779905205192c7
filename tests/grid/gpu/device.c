/* Messages and collectives from and to the memory of a device. Ranks exchange with those of the
 * other cluster; what stays inside a cluster is the native library's. */
#include <mpi.h>
#include <string.h>

#include "checks.h"

enum { LONG = 300000 };
static int other;

static void messages(int count) {
  int* const out = on_device(count, 1000 * rank);
  int* const in = on_device(count, -5);
  MPI_Request request[2];
  MPI_Status status;
  int got = 0;
  typedef int (*Start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  const Start starts[] = {MPI_Isend, MPI_Issend};
  for (int i = 0; i < 2; ++i) {
    doing = "isend and irecv";
    int* const here = on_device(count, -5);
    MPI_Irecv(here, count, MPI_INT, other, 1, MPI_COMM_WORLD, request);
    starts[i](out, count, MPI_INT, other, 1, MPI_COMM_WORLD, request + 1);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect_run(here, count, 1000 * other);
  }
  doing = "send and recv from any source";
  int* const found = on_device(count, -5);
  if (rank < other) {
    MPI_Send(out, count, MPI_INT, other, 2, MPI_COMM_WORLD);
    MPI_Recv(found, count, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(found, count, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    MPI_Send(out, count, MPI_INT, other, 2, MPI_COMM_WORLD);
  }
  MPI_Get_count(&status, MPI_INT, &got);
  if (status.MPI_SOURCE != other || got != count) wrong = 1;
  expect_run(found, count, 1000 * other);
  doing = "host to device";
  int* const host = malloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; ++i) host[i] = 7 * rank + i;
  MPI_Sendrecv(host, count, MPI_INT, other, 3, in, count, MPI_INT, other, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_run(in, count, 7 * other);
  doing = "device to host";
  MPI_Sendrecv(out, count, MPI_INT, other, 4, host, count, MPI_INT, other, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (host[count - 1] != 1000 * other + count - 1) wrong = 1;
  doing = "sendrecv_replace";
  MPI_Sendrecv_replace(in, count, MPI_INT, other, 5, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_run(in, count, 7 * rank);
  doing = "persistent";
  MPI_Recv_init(in, count, MPI_INT, other, 6, MPI_COMM_WORLD, request);
  MPI_Send_init(out, count, MPI_INT, other, 6, MPI_COMM_WORLD, request + 1);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect_run(in, count, 1000 * other);
  }
  MPI_Request_free(request);
  MPI_Request_free(request + 1);
  doing = "mprobe";
  MPI_Message message;
  MPI_Isend(out, count, MPI_INT, other, 7, MPI_COMM_WORLD, request);
  MPI_Mprobe(other, 7, MPI_COMM_WORLD, &message, &status);
  int* const probed = on_device(count, -5);
  MPI_Mrecv(probed, count, MPI_INT, &message, &status);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  expect_run(probed, count, 1000 * other);
  doing = "bsend";
  const int room = count * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)room);
  int detached;
  MPI_Buffer_attach(buffer, room);
  MPI_Bsend(out, count, MPI_INT, other, 8, MPI_COMM_WORLD);
  MPI_Recv(in, count, MPI_INT, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&buffer, &detached);
  expect_run(in, count, 1000 * other);
  free(buffer);
  free(host);
}

static void gaps(void) {
  doing = "vector";
  MPI_Datatype rows;
  MPI_Type_vector(50, 3, 10, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  int* const out = on_device(500, 1000 * rank);
  int* const in = on_device(500, -1000000);
  MPI_Sendrecv(out, 1, rows, other, 9, in, 1, rows, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 493; ++i) expect(in, i, i % 10 < 3 ? 1000 * other + i : -1000000 + i);
  doing = "a message that ends within an element";
  int* const part = on_device(500, -1000000);
  MPI_Sendrecv(out, 7, MPI_INT, other, 9, part, 1, rows, other, 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0, packed = 0; i < 40; ++i) {
    const int comes = i % 10 < 3 && packed < 7;
    expect(part, i, comes ? 1000 * other + packed++ : -1000000 + i);
  }
  MPI_Type_free(&rows);
}

static void collectives(int count) {
  int* const mine = on_device(count, rank);
  int* const all = on_device(count * size, -5);
  doing = "bcast";
  int* const shared = on_device(count, rank == 0 ? 5 : -5);
  MPI_Bcast(shared, count, MPI_INT, 0, MPI_COMM_WORLD);
  expect_run(shared, count, 5);
  doing = "allreduce";
  int* const sum = on_device(count, -5);
  const int ranks = size * (size - 1) / 2;
  MPI_Allreduce(mine, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum, 0, ranks);
  expect(sum, count - 1, ranks + size * (count - 1));
  doing = "allreduce in place";
  MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(mine, count - 1, ranks + size * (count - 1));
  doing = "allgather";
  int* const own = on_device(count, 100 * rank);
  MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) expect(all, r * count + count - 1, 100 * r + count - 1);
  doing = "alltoall in place";
  MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  doing = "ialltoall";
  MPI_Request request;
  int* const got = on_device(count * size, -5);
  int* const put = on_device(count * size, 10000 * rank);
  MPI_Ialltoall(put, count, MPI_INT, got, count, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < size; ++r) expect(got, r * count, 10000 * r + rank * count);
  doing = "reduce, gather, scatter";
  int* const root = on_device(count * size, -5);
  MPI_Reduce(own, root, count, MPI_INT, MPI_MAX, size - 1, MPI_COMM_WORLD);
  if (rank == size - 1) expect(root, 0, 100 * (size - 1));
  MPI_Gather(own, count, MPI_INT, root, count, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) expect(root, count * size - 1, 100 * (size - 1) + count - 1);
  MPI_Scatter(root, count, MPI_INT, shared, count, MPI_INT, 0, MPI_COMM_WORLD);
  expect_run(shared, count, 100 * rank);
  doing = "scan";
  int* const prefix = on_device(count, -5);
  MPI_Scan(shared, prefix, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(prefix, 0, 100 * (rank * (rank + 1) / 2));
}

static void sides(int count) { /* the two clusters, as an intercommunicator; persistent, too */
  doing = "an intercommunicator";
  const int side = rank >= size / 2;
  MPI_Comm own, across;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, side ? 0 : size / 2, 9, &across);
  int* const mine = on_device(count, rank);
  int* const sum = on_device(count, -5);
  MPI_Allreduce(mine, sum, count, MPI_INT, MPI_SUM, across);
  int theirs = 0;
  for (int r = side ? 0 : size / 2; r < (side ? size / 2 : size); ++r) theirs += r;
  expect(sum, count - 1, theirs + size / 2 * (count - 1));
  MPI_Comm_free(&across);
  MPI_Comm_free(&own);
#if MPI_VERSION >= 4
  doing = "a persistent allreduce";
  MPI_Request request;
  int* const again = on_device(count, -5);
  MPI_Allreduce_init(mine, again, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_run(again, count, size - 1);
  }
  MPI_Request_free(&request);
#endif
}

static void windows(void) {
  doing = "put and get with data on the device";
  int* base;
  MPI_Win win;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  int* const data = on_device(8, 50 * rank);
  int* const back = on_device(8, -5);
  MPI_Win_fence(0, win);
  MPI_Put(data, 8, MPI_INT, other, 0, 8, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (base[7] != 50 * other + 7) wrong = 1;
  MPI_Get(back, 8, MPI_INT, other, 0, 8, MPI_INT, win);
  MPI_Win_fence(0, win);
  expect_run(back, 8, 50 * rank);
  MPI_Accumulate(data, 8, MPI_INT, other, 0, 8, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (base[7] != 2 * (50 * other + 7)) wrong = 1;
  MPI_Win_free(&win);
}

static void neighbours(void) {
  doing = "neighbor_alltoall";
  MPI_Comm ring;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  int* const out = on_device(2, 10 * rank);
  int* const in = on_device(2, -5);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  expect(in, 0, 10 * ((rank + size - 1) % size) + 1);
  expect(in, 1, 10 * ((rank + 1) % size));
  MPI_Comm_free(&ring);
}

static void partitions(void) {
#if MPI_VERSION >= 4
  doing = "partitions";
  MPI_Request request[2];
  int* const out = on_device(400, 1000 * rank);
  int* const in = on_device(400, -5);
  MPI_Psend_init(out, 4, 100, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
  MPI_Precv_init(in, 2, 200, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request + 1);
  MPI_Startall(2, request);
  for (int i = 3; i >= 0; --i) MPI_Pready(i, request[0]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect_run(in, 400, 1000 * other);
  MPI_Request_free(request);
  MPI_Request_free(request + 1);
#endif
}

static void file(const char* name) {
  doing = "a file";
  MPI_File shared;
  int* const out = on_device(100, 1000 * rank);
  int* const in = on_device(100, -5);
  const MPI_Offset mine = rank * 400, theirs = other * 400;
  if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared))
    wrong = 1;
  MPI_File_write_at_all(shared, mine, out, 100, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(shared);
  MPI_File_read_at(shared, theirs, in, 100, MPI_INT, MPI_STATUS_IGNORE);
  expect_run(in, 100, 1000 * other);
  MPI_File_close(&shared);
}

static int is_refused(int code) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  return class == MPI_ERR_BUFFER && strstr(text, "an illegal memory access was encountered");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  other = (rank + size / 2) % size;
  void* const before = gpu_state();
  if (getenv("DRIVER_FAILS")) {
    if (!is_refused(MPI_Send(on_device(1, 0), 1, MPI_INT, other, 1, MPI_COMM_WORLD))) wrong = 1;
  } else {
    messages(1);
    messages(LONG);
    gaps();
    collectives(size);
    collectives(LONG / 10);
    sides(size);
    sides(LONG / 10);
    windows();
    neighbours();
    partitions();
    file(argv[1]);
  }
  return ended(before);
}
