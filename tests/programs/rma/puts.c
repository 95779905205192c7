/* Every rank puts to and gets from every other, small and large, with each way to synchronize.
   ranks: 2 4 5 */
#include "rma.h"

#define MOST 200000

static long* memory; /* one block for each rank */
static long sent[MOST], got[MOST];
static const int sizes[] = {1, 3, 1000, MOST};

static long value(int from, int to, int i, int round) {
  return (long)from * 1000003 + to * 1009 + i * 7 + round;
}

/* fence, lock each, lock_all with flush, post-start-complete-wait */
enum { FENCE, LOCK, LOCK_ALL, GENERAL, WAYS };

static void open_epoch(int way, MPI_Group all, MPI_Win win) {
  if (way == FENCE) MPI_Win_fence(0, win);
  if (way == LOCK_ALL) MPI_Win_lock_all(0, win);
  if (way == GENERAL) {
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
  }
}

static void close_epoch(int way, MPI_Win win) {
  if (way == FENCE) MPI_Win_fence(0, win);
  if (way == LOCK_ALL) {
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
  }
  if (way == GENERAL) {
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one_round(int way, int count, int round, MPI_Group all, MPI_Win win) {
  open_epoch(way, all, win);
  for (int step = 0; step < world_size; ++step) {
    const int to = (world_rank + step) % world_size;
    for (int i = 0; i < count; ++i) sent[i] = value(world_rank, to, i, round);
    if (way == LOCK) MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Put(sent, count, MPI_LONG, to, (MPI_Aint)world_rank * MOST, count, MPI_LONG, win);
    if (way == LOCK) {
      MPI_Win_unlock(to, win);
    } else if (way == LOCK_ALL) {
      MPI_Win_flush_local(to, win);
    } else {
      /* The buffer is to stay until the epoch ends: one target an epoch. */
      close_epoch(way, win);
      open_epoch(way, all, win);
    }
  }
  close_epoch(way, win);
  if (way == LOCK) MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  for (int from = 0; from < world_size; ++from)
    for (int i = 0; i < count; ++i)
      CHECK(memory[(long)from * MOST + i] == value(from, world_rank, i, round),
            "way %d, %d longs, element %d from %d is %ld", way, count, i, from,
            memory[(long)from * MOST + i]);
  if (way == LOCK) MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);

  /* The data that every other rank has from me. */
  open_epoch(way, all, win);
  for (int step = 0; step < world_size; ++step) {
    const int from = (world_rank + step) % world_size;
    if (way == LOCK) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, from, 0, win);
    memset(got, 0, sizeof got[0] * count);
    MPI_Get(got, count, MPI_LONG, from, (MPI_Aint)world_rank * MOST, count, MPI_LONG, win);
    if (way == LOCK) {
      MPI_Win_unlock(from, win);
    } else if (way == LOCK_ALL) {
      MPI_Win_flush(from, win);
    } else {
      close_epoch(way, win);
      open_epoch(way, all, win);
    }
    for (int i = 0; i < count; ++i)
      CHECK(got[i] == value(world_rank, from, i, round), "way %d, %d longs, got %ld from %d", way,
            count, got[i], from);
  }
  close_epoch(way, win);
}

static void with_window(MPI_Win win, int first_round) {
  MPI_Group all;
  MPI_Win_get_group(win, &all);
  int size = 0;
  MPI_Group_size(all, &size);
  CHECK(size == world_size, "the window's group has %d ranks", size);
  for (int way = 0; way < WAYS; ++way)
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
      one_round(way, sizes[s], first_round + way * 10 + (int)s, all, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Group_free(&all);
}

static void check_attributes(MPI_Win win, int flavour, MPI_Aint size) {
  void* found = NULL;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag);
  CHECK(flag && found == memory, "MPI_WIN_BASE is %p, not %p", found, (void*)memory);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag);
  CHECK(flag && *(MPI_Aint*)found == size, "MPI_WIN_SIZE is %ld", (long)*(MPI_Aint*)found);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &found, &flag);
  CHECK(flag && *(int*)found == (int)sizeof(long), "MPI_WIN_DISP_UNIT is %d", *(int*)found);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag);
  CHECK(flag && *(int*)found == flavour, "MPI_WIN_CREATE_FLAVOR is %d", *(int*)found);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const MPI_Aint size = (MPI_Aint)sizeof(long) * MOST * world_size;
  MPI_Win win;
  MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  check_attributes(win, MPI_WIN_FLAVOR_ALLOCATE, size);
  with_window(win, 0);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL, "MPI_Win_free left a handle");

  memory = malloc((size_t)size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_create(memory, size, sizeof(long), MPI_INFO_NULL, comm, &win);
  MPI_Comm_free(&comm);
  check_attributes(win, MPI_WIN_FLAVOR_CREATE, size);
  with_window(win, 1000);
  MPI_Win_free(&win);
  free(memory);
  MPI_Finalize();
  return 0;
}
