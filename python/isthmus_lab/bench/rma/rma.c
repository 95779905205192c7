/* The figures of `isthmus bench rma`, for any MPI. Rank 0 accesses the window of another rank,
 * which sits in a barrier meanwhile. usage: rma TASK...
 *
 *   OPERATION:BYTES:ROUNDS         on the last rank
 *   inside-OPERATION:BYTES:ROUNDS  on rank 1
 *
 *   message     a message of BYTES, and an empty one back: what the others are compared with
 *   put, get    one of BYTES and a flush
 *   accumulate  sums of doubles, and a flush
 *   fetch       MPI_Fetch_and_op of one word, and a flush
 *   lock        an exclusive lock, a put, and the unlock
 *   puts        10000 puts of BYTES, and a flush
 *
 * Rank 0 prints a line of JSON for each task as soon as it is done: its text and the seconds of
 * each round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, PUTS = 10000, WINDOW = 64 << 20 };
enum { DATA = 1, WORD = 2 };

static int rank, size, target;
static char* data;
static MPI_Win win;

static void fail(const char* text, const char* why) {
  if (rank == 0) fprintf(stderr, "rma: \"%s\": %s\n", text, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void message(int bytes) {
  MPI_Send(data, bytes, MPI_BYTE, target, DATA, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, MPI_BYTE, target, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void answer(int bytes) {
  MPI_Recv(data, bytes, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(NULL, 0, MPI_BYTE, 0, WORD, MPI_COMM_WORLD);
}
static void put(int bytes) {
  MPI_Put(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}
static void get(int bytes) {
  MPI_Get(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(target, win);
}
static void accumulate(int bytes) {
  const int count = bytes / (int)sizeof(double);
  MPI_Accumulate(data, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush(target, win);
}
static void fetch(int bytes) {
  (void)bytes;
  static long one = 1, before;
  MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win);
  MPI_Win_flush(target, win);
}
static void lock(int bytes) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  MPI_Put(data, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  MPI_Win_unlock(target, win);
}
static void puts_(int bytes) {
  for (int i = 0; i < PUTS; ++i) {
    MPI_Put(data, bytes, MPI_BYTE, target, (MPI_Aint)i * bytes, bytes, MPI_BYTE, win);
  }
  MPI_Win_flush(target, win);
}

static const struct {
  const char* name;
  void (*once)(int bytes);
} operations[] = {{"message", message}, {"put", put},   {"get", get},   {"accumulate", accumulate},
                  {"fetch", fetch},     {"lock", lock}, {"puts", puts_}};

static void run(const char* text) {
  char name[32], rest;
  int bytes = 0, rounds = 0;
  const int n = sscanf(text, "%31[-a-z]:%d:%d%c", name, &bytes, &rounds, &rest);
  if (n != 3 || bytes < 8 || bytes > WINDOW || bytes % 8 || rounds < 1) fail(text, "is not a task");
  const int inside = strncmp(name, "inside-", 7) == 0;
  const char* const wanted = name + (inside ? 7 : 0);
  void (*once)(int) = NULL;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, wanted) == 0) once = operations[i].once;
  }
  if (!once || (once == puts_ && bytes > WINDOW / PUTS)) fail(text, "is not a task");
  target = inside ? 1 : size - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == target && once == message) {
    for (int i = -WARM_UP; i < rounds; ++i) answer(bytes);
  }
  if (rank == 0) {
    double* const seconds = malloc(sizeof(double) * (size_t)rounds);
    if (!seconds) fail(text, "not enough memory");
    const int held = once != message && once != lock;
    if (held) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    for (int i = -WARM_UP; i < rounds; ++i) {
      const double start = MPI_Wtime();
      once(bytes);
      if (i >= 0) seconds[i] = MPI_Wtime() - start;
    }
    if (held) MPI_Win_unlock(target, win);
    printf("{\"task\":\"%s\",\"seconds\":[", text);
    for (int i = 0; i < rounds; ++i) printf("%s%.9g", i ? "," : "", seconds[i]);
    printf("]}\n");
    fflush(stdout);
    free(seconds);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) fail("size", "at least two ranks are needed");
  char* base;
  MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, WINDOW);
  data = malloc(WINDOW);
  if (!data) fail("memory", "not enough");
  memset(data, 0, WINDOW); /* pages never written are one page, which is quick to read */
  for (int i = 1; i < argc; ++i) run(argv[i]);
  MPI_Win_free(&win);
  free(data);
  MPI_Finalize();
  return 0;
}
