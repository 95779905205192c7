/* Large messages from and to the memory of a device: their pieces are copied while others are under
 * way. Two ranks, in two clusters. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* device_memory.h */
void* gpu_alloc(size_t bytes);
void gpu_write(void* to, const void* from, size_t bytes);
void gpu_read(void* to, const void* from, size_t bytes);
int gpu_pins(void);
size_t gpu_pinned(void);

enum { LONG = 1000003, ROWS = 700, WIDE = 500, STRIDE = 600, MOST_PINNED = 128 << 20 };
static int rank, other, wrong;
static const char* doing = "";

static void is_wrong(const char* what) {
  printf("rank %d: %s: %s\n", rank, doing, what);
  wrong = 1;
}
static int* on_device(int count, int first, int step) { /* first, first + step, ... */
  int* const host = malloc((size_t)count * sizeof(int));
  int* const at = gpu_alloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; ++i) host[i] = first + step * i;
  gpu_write(at, host, (size_t)count * sizeof(int));
  free(host);
  return at;
}
/* The `count` elements from `at` on. */
static void expect(const int* device, int at, int count, int first, int step) {
  int* const host = malloc((size_t)count * sizeof(int));
  gpu_read(host, device + at, (size_t)count * sizeof(int));
  for (int i = 0; i < count; ++i) {
    if (host[i] == first + step * i) continue;
    printf("rank %d: %s: element %d is %d in place of %d\n", rank, doing, at + i, host[i],
           first + step * i);
    wrong = 1;
    break;
  }
  free(host);
}

static void strides(void) {
  doing = "rows with gaps";
  MPI_Datatype rows;
  MPI_Type_vector(ROWS, WIDE, STRIDE, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  int* const out = on_device(ROWS * STRIDE, rank, 2);
  int* const in = on_device(ROWS * STRIDE, -7, 0);
  MPI_Sendrecv(out, 1, rows, other, 1, in, 1, rows, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int row = 0; row < ROWS; ++row) {
    const int at = row * STRIDE;
    expect(in, at, WIDE, other + 2 * at, 2);
    if (row + 1 < ROWS) expect(in, at + WIDE, STRIDE - WIDE, -7, 0);
  }
  doing = "a message that ends within a row";
  int* const part = on_device(ROWS * STRIDE, -7, 0);
  const int whole = 600 * WIDE, more = 123;
  MPI_Sendrecv(out, whole + more, MPI_INT, other, 1, part, 1, rows, other, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int row = 0; row < 600; ++row) {
    expect(part, row * STRIDE, WIDE, other + 2 * row * WIDE, 2);
  }
  expect(part, 600 * STRIDE, more, other + 2 * whole, 2);
  expect(part, 600 * STRIDE + more, STRIDE - more, -7, 0);
  MPI_Type_free(&rows);
}

static void ends(void) {
  MPI_Request request;
  MPI_Status status;
  int class = MPI_SUCCESS, got = 0;
  int* const out = on_device(LONG, rank, 3);
  int* const in = on_device(LONG, -7, 0);
  doing = "a message longer than its buffer";
  MPI_Isend(out, LONG, MPI_INT, other, 2, MPI_COMM_WORLD, &request);
  const int code = MPI_Recv(in, LONG / 2, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_TRUNCATE) is_wrong("no error");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(in, 0, LONG / 2, other, 3);
  expect(in, LONG / 2, LONG - LONG / 2, -7, 0);
  doing = "a message shorter than its buffer, from any rank";
  int* const some = on_device(LONG, -7, 0);
  MPI_Irecv(some, LONG, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
  MPI_Ssend(out, LONG - 1000, MPI_INT, other, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  if (got != LONG - 1000 || status.MPI_SOURCE != other) is_wrong("another status");
  expect(some, 0, LONG - 1000, other, 3);
  expect(some, LONG - 1000, 1000, -7, 0);
  doing = "a receive that is cancelled";
  int flag = 0;
  MPI_Irecv(in, LONG, MPI_INT, other, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  if (!flag) is_wrong("it is not");
}

static void parts(void) {
#if MPI_VERSION >= 4
  doing = "partitions";
  enum { PART = 200001 };
  MPI_Request request[2];
  int* const out = on_device(4 * PART, rank, 5);
  int* const in = on_device(4 * PART, -7, 0);
  MPI_Psend_init(out, 4, PART, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_INFO_NULL, request);
  MPI_Precv_init(in, 2, 2 * PART, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_INFO_NULL, request + 1);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, request);
    for (int i = 3; i >= 0; --i) MPI_Pready(i, request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(in, 0, 4 * PART, other, 5);
  }
  MPI_Request_free(request);
  MPI_Request_free(request + 1);
#endif
}

static void many(void) {
  doing = "many at a time";
  enum { MANY = 20 };
  MPI_Request request[2 * MANY];
  int* out[MANY];
  int* in[MANY];
  for (int i = 0; i < MANY; ++i) {
    out[i] = on_device(LONG / 2, rank, i);
    in[i] = on_device(LONG / 2, -7, 0);
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < MANY; ++i) {
      MPI_Irecv(in[i], LONG / 2, MPI_INT, other, i, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = MANY - 1; i >= 0; --i) {
      MPI_Isend(out[i], LONG / 2, MPI_INT, other, i, MPI_COMM_WORLD, &request[MANY + i]);
    }
    MPI_Waitall(2 * MANY, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; ++i) expect(in[i], 0, LONG / 2, other, i);
  }
  if (gpu_pinned() > MOST_PINNED) is_wrong("too much memory is pinned");
  if (gpu_pins() && gpu_pinned() == 0) is_wrong("no memory is pinned");
}

/* The I/O thread waits for the driver, while that tells of a message. */
static void beside_a_window(void) {
  doing = "messages beside puts";
  enum { ROUNDS = 12, PUTS = 30, NUMBERS = 20000 };
  MPI_Win win;
  int* const window = on_device(PUTS * NUMBERS, -7, 0);
  int* const data = on_device(PUTS * NUMBERS, rank, 2);
  int* const out = on_device(LONG, rank, 3);
  int* const in = on_device(LONG, -7, 0);
  MPI_Win_create(window, PUTS * NUMBERS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request request[2];
    MPI_Irecv(in, LONG, MPI_INT, other, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, LONG, MPI_INT, other, 7, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < PUTS; ++i) {
      const int at = i * NUMBERS;
      MPI_Put(data + at, NUMBERS, MPI_INT, other, at, NUMBERS, MPI_INT, win);
      MPI_Win_flush(other, win);
    }
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(in, 0, LONG, other, 3);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  expect(window, 0, PUTS * NUMBERS, other, 2);
  MPI_Win_free(&win);
}

/* The sender calls no MPI while its message is under way. */
static void computing(const char* file) {
  doing = "a send while the program computes";
  int* const data = on_device(3 * LONG, 11, 1);
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(data, 3 * LONG, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
    while (access(file, F_OK)) usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    int* const in = on_device(3 * LONG, -7, 0);
    MPI_Recv(in, 3 * LONG, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in, 0, 3 * LONG, 11, 1);
    FILE* const made = fopen(file, "w");
    if (!made || fclose(made)) is_wrong("cannot write the file");
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  other = 1 - rank;
  strides();
  ends();
  parts();
  many();
  beside_a_window();
  computing(argv[1]);
  if (wrong) printf("rank %d: wrong\n", rank);
  MPI_Finalize();
  return wrong;
}
