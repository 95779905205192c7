/* Large sums of all ranks on all ranks: whole, in every second element, behind locks and between
   fences. The origin's memory is used again as soon as the library lets go of it.
   ranks: 2 5 */
#include "rma.h"

#define COUNT 60000

static long *memory, *first, *second;
static MPI_Win win;

static void fill(long* data, long value) {
  for (int i = 0; i < COUNT; ++i) data[i] = value + i;
}

/* The sum of all ranks' contributions, `times` each, in elements `step` apart. */
static void expect(int step, int times, const char* how) {
  long ranks = 0;
  for (int r = 0; r < world_size; ++r) ranks += r + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
  for (int i = 0; i < 2 * COUNT; ++i) {
    const long n = i % step == 0 && i / step < COUNT ? i / step : -1;
    const long sum = n < 0 ? 0 : times * (ranks + n * world_size);
    CHECK(memory[i] == sum, "%s: number %d is %ld, not %ld", how, i, memory[i], sum);
    memory[i] = 0;
  }
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void unlocked_at_once(void) {
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < world_size; ++i) {
    const int target = (world_rank + i) % world_size;
    MPI_Request request;
    fill(first, world_rank + 1);
    fill(second, world_rank + 1);
    MPI_Accumulate(first, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, win);
    MPI_Raccumulate(second, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(second, -1);
    MPI_Win_flush_local(target, win);
    fill(first, -1);
  }
  MPI_Win_unlock_all(win);
  expect(1, 2, "all at once");
}

static void behind_locks(void) {
  MPI_Datatype every_second;
  MPI_Type_vector(COUNT, 1, 2, MPI_LONG, &every_second);
  MPI_Type_commit(&every_second);
  fill(first, world_rank + 1);
  for (int target = 0; target < world_size; ++target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Accumulate(first, COUNT, MPI_LONG, target, 0, 1, every_second, MPI_SUM, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Type_free(&every_second);
  expect(2, 1, "behind locks");
}

static void between_fences(void) {
  MPI_Win_fence(0, win);
  fill(first, world_rank + 1);
  for (int target = 0; target < world_size; ++target) {
    MPI_Accumulate(first, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_SUM, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  expect(1, 1, "between fences");
}

/* The last of one origin's accumulates to a place counts, whatever their sizes. */
static void in_order(void) {
  const long small = 7;
  if (world_rank == 0) {
    const int target = world_size - 1;
    fill(first, 1);
    fill(second, 100);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(first, COUNT, MPI_LONG, target, 0, COUNT, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(&small, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(second, COUNT - 9, MPI_LONG, target, 9, COUNT - 9, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(&small, 1, MPI_LONG, target, COUNT - 1, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != world_size - 1) return;
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  CHECK(memory[0] == small && memory[8] == 9, "%ld and %ld", memory[0], memory[8]);
  CHECK(memory[9] == 100 && memory[COUNT - 2] == 100 + COUNT - 11 && memory[COUNT - 1] == small,
        "%ld, %ld and %ld", memory[9], memory[COUNT - 2], memory[COUNT - 1]);
  MPI_Win_unlock(world_rank, win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  first = malloc(COUNT * sizeof *first);
  second = malloc(COUNT * sizeof *second);
  MPI_Win_allocate(2 * COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
  memset(memory, 0, 2 * COUNT * sizeof *memory);
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  unlocked_at_once();
  behind_locks();
  between_fences();
  in_order();
  MPI_Win_free(&win);
  free(first);
  free(second);
  MPI_Finalize();
  return 0;
}
