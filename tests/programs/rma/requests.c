/* Operations with requests, windows whose memory comes and goes, different displacement units, and
   targets that do not call MPI.
   ranks: 3 4 */
#include "rma.h"

#define LARGE 100000

static void requests(void) {
  double* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(double) * LARGE * 2, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &win);
  double* mine = malloc(sizeof(double) * LARGE);
  double* got = malloc(sizeof(double) * LARGE);
  const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  MPI_Win_lock_all(0, win);
  for (int count = 1; count <= LARGE; count *= 10) {
    MPI_Request request[2];
    for (int i = 0; i < count; ++i) mine[i] = world_rank * 1e6 + i + count;
    MPI_Rput(mine, count, MPI_DOUBLE, next, 0, count, MPI_DOUBLE, win, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    memset(mine, 0, sizeof(double) * count); /* it is mine again */
    MPI_Win_flush(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; i < count; ++i)
      CHECK(memory[i] == last * 1e6 + i + count, "%d doubles: %g at %d", count, memory[i], i);
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < count; ++i) mine[i] = 1;
    MPI_Raccumulate(mine, count, MPI_DOUBLE, next, 0, count, MPI_DOUBLE, MPI_SUM, win, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(next, win);
    memset(got, 0, sizeof(double) * count);
    MPI_Rget(got, count, MPI_DOUBLE, next, 0, count, MPI_DOUBLE, win, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i)
      CHECK(got[i] == world_rank * 1e6 + i + count + 1, "%d doubles: got %g", count, got[i]);
    MPI_Rget_accumulate(mine, count, MPI_DOUBLE, got, count, MPI_DOUBLE, next, 0, count, MPI_DOUBLE,
                        MPI_SUM, win, &request[0]);
    /* Into every second element, while that is under way. */
    MPI_Datatype second;
    MPI_Type_vector(count / 2, 1, 2, MPI_DOUBLE, &second);
    MPI_Type_commit(&second);
    MPI_Rget(mine, count > 1 ? 1 : 0, second, world_rank, LARGE, count / 2, MPI_DOUBLE, win,
             &request[1]);
    MPI_Type_free(&second);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i)
      CHECK(got[i] == world_rank * 1e6 + i + count + 1, "%d doubles: before %g", count, got[i]);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request nothing;
  MPI_Rput(mine, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win, &nothing);
  MPI_Wait(&nothing, MPI_STATUS_IGNORE);
  MPI_Put(mine, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
  MPI_Win_flush(MPI_PROC_NULL, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  free(mine);
  free(got);
}

static void dynamic(void) {
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int blocks[2][100];
  memset(blocks, 0, sizeof blocks);
  MPI_Win_attach(win, blocks[0], sizeof blocks[0]);
  MPI_Win_attach(win, blocks[1], sizeof blocks[1]);
  MPI_Aint mine[2], all[64][2];
  MPI_Get_address(blocks[0], &mine[0]);
  MPI_Get_address(blocks[1], &mine[1]);
  MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
  const int value = world_rank + 1;
  MPI_Win_lock_all(0, win);
  for (int to = 0; to < world_size; ++to) {
    MPI_Put(&value, 1, MPI_INT, to, MPI_Aint_add(all[to][0], world_rank * sizeof(int)), 1, MPI_INT,
            win);
    MPI_Accumulate(&value, 1, MPI_INT, to, all[to][1], 1, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  for (int from = 0; from < world_size; ++from)
    CHECK(blocks[0][from] == from + 1, "%d of %d", blocks[0][from], from);
  CHECK(blocks[1][0] == world_size * (world_size + 1) / 2, "the sum is %d", blocks[1][0]);
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, blocks[0]);
  MPI_Win_detach(win, blocks[1]);
  MPI_Win_free(&win);
}

/* Rank r's window has r + 1 elements of r + 1 ints each; its size is a multiple of 16, as in
   counters.c. */
static void units(void) {
  int* memory;
  MPI_Win win;
  const int ints = ((world_rank + 1) * (world_rank + 1) + 3) / 4 * 4;
  MPI_Win_allocate(sizeof(int) * ints, (int)sizeof(int) * (world_rank + 1), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  for (int to = 0; to < world_size; ++to) {
    const int value = to * 100;
    if (world_rank == 0) MPI_Put(&value, 1, MPI_INT, to, to, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
  }
  CHECK(memory[world_rank * (world_rank + 1)] == world_rank * 100, "there is %d",
        memory[world_rank * (world_rank + 1)]);
  MPI_Win_free(&win);
}

/* The last rank reads its memory, without calling MPI, until the others have written there. With a
   native library it may wait forever. */
static void asleep(void) {
  if (!spans_clusters(MPI_COMM_WORLD)) return;
  int* memory;
  MPI_Win win;
  const int target = world_size - 1, one = 1;
  MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
  memset(memory, 0, 64);
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == target) {
    while (*(volatile int*)memory < world_size - 1) {
    }
  } else {
    int before = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, target, 1, MPI_SUM, win);
    MPI_Win_flush(target, win);
    CHECK(before >= 0 && before < world_size - 1, "before there was %d", before);
    MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  requests();
  dynamic();
  units();
  asleep();
  MPI_Finalize();
  return 0;
}
