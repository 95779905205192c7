/* Memory changes as soon as MPI gives it back. The target changes it after an epoch, the next
   holder of a lock under it, the origin after each kind of completion. Gets and puts move what it
   held. Freed memory is unmapped at once.
   ranks: 2 3 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "rma.h"

enum { kBefore = 1, kAfter = 2 };

/* Around the sizes from which on data goes another way. */
static const int sizes[] = {1, 32767, 32768, 65536, 65537, 1 << 20, (1 << 20) + 1, 5 << 20};
enum { kSizes = sizeof sizes / sizeof *sizes, kMost = 5 << 20 };

static int target;       /* the last rank, in another cluster than rank 0 */
static char *mine, *got; /* what the window shows; what has come from it */
static MPI_Win win;
static MPI_Group all, others, last;

static char* mapped(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED, "no memory");
  return memory;
}

static void all_are(const char* memory, int bytes, int value, const char* what) {
  for (int i = 0; i < bytes; ++i) {
    CHECK(memory[i] == value, "%s of %d bytes: byte %d is %d", what, bytes, i, memory[i]);
  }
}

/* The program's own accesses to the target's window. */
static void fill(int bytes, int value) {
  if (world_rank != target) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  memset(mine, value, (size_t)bytes);
  MPI_Win_unlock(target, win);
}

static void prepare(int bytes) {
  fill(bytes, kBefore);
  memset(got, 0, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void after_an_epoch(int bytes, int test) {
  prepare(bytes);
  if (world_rank == target) {
    MPI_Win_post(others, 0, win);
    int over = !test;
    if (!test) MPI_Win_wait(win);
    while (!over) MPI_Win_test(win, &over);
    fill(bytes, kAfter);
  } else {
    MPI_Win_start(last, 0, win);
    MPI_Get(got, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    MPI_Win_complete(win);
    all_are(got, bytes, kBefore, test ? "a get before MPI_Win_test" : "a get before MPI_Win_wait");
  }
}

static void by_the_next_lock(int bytes) {
  prepare(bytes);
  char* source = mapped((size_t)bytes);
  memset(source, kAfter, (size_t)bytes);
  MPI_Request request;
  if (world_rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Get(got, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush_local(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget(got, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win, &request);
    MPI_Win_unlock(target, win);
    all_are(got, bytes, kBefore, "a get under a lock");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(source, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    MPI_Win_unlock(target, win);
  }
  munmap(source, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
}

enum { kFence, kFlush, kFlushLocal, kUnlock, kRequest, kComplete, kEnds };

/* The origin unmaps the memory that it has put from. */
static void by_the_origin(int bytes, int end) {
  prepare(bytes);
  char* source = mapped((size_t)bytes);
  memset(source, kAfter, (size_t)bytes);
  MPI_Request request;
  if (end == kFence) MPI_Win_fence(0, win);
  if (end == kComplete && world_rank == target) {
    MPI_Win_post(others, 0, win);
    MPI_Win_wait(win);
  }
  if (world_rank == 0) {
    if (end == kComplete) MPI_Win_start(last, 0, win);
    if (end != kFence && end != kComplete) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    if (end == kRequest) {
      MPI_Rput(source, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win, &request);
    } else {
      MPI_Put(source, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    }
    if (end == kRequest) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (end == kFlush) MPI_Win_flush(target, win);
    if (end == kFlushLocal) MPI_Win_flush_local(target, win);
    if (end == kUnlock) MPI_Win_unlock(target, win);
    if (end == kComplete) MPI_Win_complete(win);
  } else if (end == kComplete && world_rank != target) {
    MPI_Win_start(last, 0, win);
    MPI_Win_complete(win);
  }
  if (end == kFence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  munmap(source, (size_t)bytes);
  if (world_rank == 0 && (end == kFlush || end == kFlushLocal || end == kRequest)) {
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != target) return;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  all_are(mine, bytes, kAfter, "a put");
  MPI_Win_unlock(target, win);
}

/* The program unmaps a window's memory after it freed the window or detached the memory. */
static void without_the_window(int bytes, int dynamic) {
  MPI_Win own;
  MPI_Aint address = 0;
  char* shown = mapped((size_t)bytes);
  memset(shown, kBefore, (size_t)bytes);
  if (dynamic) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &own);
    MPI_Win_attach(own, shown, bytes);
    MPI_Get_address(shown, &address);
    MPI_Bcast(&address, 1, MPI_AINT, target, MPI_COMM_WORLD);
  } else {
    MPI_Win_create(shown, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own);
  }
  MPI_Win_lock_all(0, own);
  if (world_rank == 0) MPI_Get(got, bytes, MPI_BYTE, target, address, bytes, MPI_BYTE, own);
  if (world_rank == 0) MPI_Win_flush(target, own);
  if (dynamic) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(own, shown);
    munmap(shown, (size_t)bytes);
  }
  MPI_Win_unlock_all(own);
  MPI_Win_free(&own);
  if (!dynamic) munmap(shown, (size_t)bytes);
  if (world_rank == 0) all_are(got, bytes, kBefore, "a get before the memory went");
}

/* Far more than may be under way at a time, to one place. */
static void many(int bytes, int number) {
  prepare(bytes);
  if (world_rank == target) {
    MPI_Win_post(others, 0, win);
    MPI_Win_wait(win);
    fill(bytes, kAfter);
    return;
  }
  MPI_Win_start(last, 0, win);
  for (int i = 0; world_rank == 0 && i < number; ++i) {
    MPI_Get(got, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
  }
  MPI_Win_complete(win);
  if (world_rank == 0) all_are(got, bytes, kBefore, "one of many gets");
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  target = world_size - 1;
  got = malloc(kMost);
  MPI_Win_allocate(kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &target, &last);
  MPI_Group_excl(all, 1, &target, &others);
  for (int i = 0; i < kSizes; ++i) {
    for (int round = 0; round < 3; ++round) {
      after_an_epoch(sizes[i], 0);
      after_an_epoch(sizes[i], 1);
      by_the_next_lock(sizes[i]);
      for (int end = 0; end < kEnds; ++end) by_the_origin(sizes[i], end);
      without_the_window(sizes[i], 0);
      without_the_window(sizes[i], 1);
    }
  }
  many(8, 100000);
  many(131073, 3000);
  MPI_Group_free(&all);
  MPI_Group_free(&last);
  MPI_Group_free(&others);
  MPI_Win_free(&win);
  free(got);
  if (world_rank == 0) printf("given_back: passed\n");
  MPI_Finalize();
  return 0;
}
