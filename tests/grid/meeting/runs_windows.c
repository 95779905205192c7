/* Windows that span two runs: `runs_windows accept FILE` and `runs_windows connect FILE`; with
   `spawn PROGRAM` both sides are one run's, parents and children; `die` as the second word ends the
   one that connects while the other waits in the window. */
#include <string.h>

#include "../../programs/comm/check.h"
#include "port_file.h"

enum { kLarge = 300000 };
static int rank, size;

static void fences(MPI_Comm whole) {
  int *memory, *got = malloc(sizeof(int) * (size_t)size), sum = 0;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)sizeof(int) * (size + 2), sizeof(int), MPI_INFO_NULL, whole, &memory,
                   &window);
  for (int i = 0; i < size + 2; ++i) memory[i] = 0;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  for (int to = 0; to < size; ++to) {
    const int mine = 100 * rank + to, one = rank + 1;
    MPI_Put(&mine, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    MPI_Accumulate(&one, 1, MPI_INT, to, size, 1, MPI_INT, MPI_SUM, window);
  }
  MPI_Win_fence(0, window);
  for (int from = 0; from < size; ++from)
    CHECK(memory[from] == 100 * from + rank, "rank %d put %d", from, memory[from]);
  CHECK(memory[size] == size * (size + 1) / 2, "the sum is %d", memory[size]);
  for (int from = 0; from < size; ++from)
    MPI_Get(&got[from], 1, MPI_INT, from, (rank + from) % size, 1, MPI_INT, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  for (int from = 0; from < size; ++from) {
    const int origin = (rank + from) % size;
    CHECK(got[from] == 100 * origin + from, "at rank %d is %d", from, got[from]);
    sum += got[from];
  }
  free(got);
  MPI_Win_free(&window);
}

static void locks(MPI_Comm whole) {
  enum { kTimes = 20 };
  long memory[2] = {0, 0}, seen = 0, one = 1;
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, whole, &window);
  const int last = size - 1;
  for (int i = 0; i < kTimes; ++i) {
    for (int to = 0; to <= last; to += last) { /* one in each run */
      long was;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
      MPI_Get(&was, 1, MPI_LONG, to, 0, 1, MPI_LONG, window);
      MPI_Win_flush(to, window);
      was += 1;
      MPI_Put(&was, 1, MPI_LONG, to, 0, 1, MPI_LONG, window);
      MPI_Win_unlock(to, window);
    }
  }
  MPI_Win_lock_all(0, window);
  for (int to = 0; to < size; ++to) {
    MPI_Fetch_and_op(&one, &seen, MPI_LONG, to, 1, MPI_SUM, window);
    MPI_Win_flush(to, window);
    CHECK(seen >= 0 && seen < size, "rank %d had counted to %ld", to, seen);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(whole);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  const long expected = rank == 0 || rank == last ? (long)kTimes * size : 0;
  CHECK(memory[0] == expected, "counted to %ld under the lock", memory[0]);
  CHECK(memory[1] == size, "counted to %ld by MPI_Fetch_and_op", memory[1]);
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
}

/* Data too large for records, and every other number of it. */
static void large(MPI_Comm whole) {
  int* memory = calloc(2 * kLarge, sizeof(int));
  int* mine = malloc(sizeof(int) * kLarge);
  MPI_Win window;
  MPI_Datatype every_other;
  MPI_Type_vector(kLarge, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Win_create(memory, sizeof(int) * 2 * kLarge, sizeof(int), MPI_INFO_NULL, whole, &window);
  const int to = size - 1 - rank, from = to;
  for (int i = 0; i < kLarge; ++i) mine[i] = rank * kLarge + i;
  MPI_Group all, other;
  MPI_Comm_group(whole, &all);
  MPI_Group_incl(all, 1, &to, &other);
  MPI_Win_post(other, 0, window);
  MPI_Win_start(other, 0, window);
  if (to != rank) MPI_Put(mine, kLarge, MPI_INT, to, 0, kLarge, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  for (int i = 0; to != rank && i < kLarge; ++i)
    CHECK(memory[i] == from * kLarge + i, "number %d is %d", i, memory[i]);
  MPI_Win_fence(0, window);
  MPI_Put(mine, kLarge, MPI_INT, to, 0, 1, every_other, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < kLarge; ++i)
    CHECK(memory[2 * i] == from * kLarge + i, "number %d is %d", 2 * i, memory[2 * i]);
  memset(mine, 0, sizeof(int) * kLarge);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
  MPI_Get(mine, 1000, MPI_INT, to, 0, 1000, MPI_INT, window);
  MPI_Get(mine + 1000, kLarge - 1000, MPI_INT, to, 1000, kLarge - 1000, MPI_INT, window);
  MPI_Win_unlock(to, window);
  for (int i = 0; i < kLarge; i += 2)
    CHECK(mine[i] == rank * kLarge + i / 2, "got %d of number %d", mine[i], i);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
  MPI_Type_free(&every_other);
  MPI_Win_free(&window);
  free(memory);
  free(mine);
}

static void share(MPI_Comm* inter, int first, int dies) {
  MPI_Comm whole;
  MPI_Intercomm_merge(*inter, !first, &whole);
  MPI_Comm_rank(whole, &rank);
  MPI_Comm_size(whole, &size);
  fences(whole);
  locks(whole);
  large(whole);

  /* A window keeps the runs together when no communicator of the program's does. */
  int memory = -1;
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, whole, &window);
  MPI_Comm_disconnect(&whole);
  MPI_Comm_disconnect(inter);
  MPI_Win_fence(0, window);
  if (dies && !first) _exit(3);
  const int to = (rank + 1) % size;
  MPI_Put(&rank, 1, MPI_INT, to, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(memory == (rank + size - 1) % size, "rank %d put last", memory);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const char *what = argv[1], *where = argc > 2 ? argv[2] : "";
  char port[kName] = "";
  MPI_Comm inter;
  MPI_Comm_get_parent(&inter);
  int first = 0;
  if (inter != MPI_COMM_NULL) {
    what = "child";
  } else if (strcmp(what, "spawn") == 0) {
    first = 1;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  } else if (strcmp(what, "accept") == 0) {
    first = 1;
    if (world_rank == 0) open_port(where, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  } else {
    if (world_rank == 0) read_port(where, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  share(&inter, first, argc > 3);
  MPI_Finalize();
  if (world_rank == 0) printf("%s: passed\n", what);
  return 0;
}
