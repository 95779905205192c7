/* Memory of MPI_Win_allocate. Neighbours in the cluster put and get by copying, beside accumulates
   and puts of all others; what a call must be refused also when one like it has just been done;
   sizes and displacement units that differ; many windows.
   ranks: 2 4 5 6 */
#include "rma.h"

enum { SLOTS = 64 };

static long value(int from, int to, int i, int round) {
  return (long)from * 1000003 + to * 1009 + i * 7 + round;
}

/* Rank r has room for SLOTS longs of each rank, and r bytes more; its unit is 8, or 1 where r is
 * odd. */
static long* base;
static MPI_Win win;
static MPI_Aint unit_of(int rank) { return rank % 2 ? 1 : 8; }
static MPI_Aint at(int rank, MPI_Aint index) { return index * 8 / unit_of(rank); }

static int put_and_get(int to, int round) {
  long out[SLOTS], in[SLOTS];
  for (int i = 0; i < SLOTS; ++i) out[i] = value(world_rank, to, i, round);
  MPI_Put(out, SLOTS, MPI_LONG, to, at(to, (MPI_Aint)world_rank * SLOTS), SLOTS, MPI_LONG, win);
  MPI_Win_flush(to, win);
  MPI_Get(in, SLOTS, MPI_LONG, to, at(to, (MPI_Aint)world_rank * SLOTS), SLOTS, MPI_LONG, win);
  MPI_Win_flush(to, win);
  for (int i = 0; i < SLOTS; ++i)
    CHECK(in[i] == out[i], "round %d, rank %d: %ld at %d", round, to, in[i], i);
  /* One by one, the second half first. */
  for (int i = 0; i < SLOTS; ++i) {
    const int j = (i + SLOTS / 2) % SLOTS;
    in[j] = -out[j];
    MPI_Put(&in[j], 1, MPI_LONG, to, at(to, (MPI_Aint)world_rank * SLOTS + j), 1, MPI_LONG, win);
  }
  MPI_Win_flush_local(to, win);
  MPI_Win_flush_all(win);
  MPI_Get(in, SLOTS * 8, MPI_BYTE, to, at(to, (MPI_Aint)world_rank * SLOTS), SLOTS, MPI_LONG, win);
  MPI_Win_flush_local_all(win);
  for (int i = 0; i < SLOTS; ++i)
    CHECK(in[i] == -out[i], "round %d, rank %d: %ld at %d", round, to, in[i], i);
  return 0;
}

/* A lock holds for neighbours and others alike: read, add, write back. */
static void exclusive(int rounds) {
  const int to = world_size / 2;
  for (int i = 0; i < rounds; ++i) {
    long found = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Get(&found, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Win_flush(to, win);
    ++found;
    MPI_Put(&found, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(to, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != to) return;
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
  CHECK(base[0] == (long)rounds * world_size, "%ld instead of %ld", base[0],
        (long)rounds * world_size);
  MPI_Win_unlock(to, win);
}

static void refused(int code, int expected, const char* what) {
  const int class = class_of(code);
  CHECK(class == expected, "%s: class %d instead of %d", what, class, expected);
}

/* Each beside a call that is right, so that what is done quickly is refused as well. */
static void wrong(void) {
  long x = 1;
  const int to = (world_rank + 1) % world_size;
  const MPI_Aint end = at(to, (MPI_Aint)SLOTS * world_size);
  if (!spans_clusters(MPI_COMM_WORLD)) return;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
  for (int i = 0; i < 3; ++i) {
    CHECK(MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win) == MPI_SUCCESS, "a get");
    CHECK(MPI_Win_flush(to, win) == MPI_SUCCESS, "a flush");
  }
  CHECK(MPI_Get(&x, 1, MPI_LONG, to, end - at(to, 1), 1, MPI_LONG, win) == MPI_SUCCESS, "the last");
  refused(MPI_Get(&x, 1, MPI_LONG, to, end + unit_of(to) * 8, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE,
          "behind");
  refused(MPI_Put(&x, 1, MPI_LONG, to, end + unit_of(to) * 8, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE,
          "behind");
  refused(MPI_Put(&x, -1, MPI_LONG, to, 0, -1, MPI_LONG, win), MPI_ERR_COUNT, "a count");
  refused(MPI_Put(&x, 1, MPI_LONG, world_size, 0, 1, MPI_LONG, win), MPI_ERR_RANK, "a rank");
  MPI_Win_unlock(to, win);
  refused(MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC, "no epoch");
  refused(MPI_Put(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC, "no epoch");
  refused(MPI_Win_flush(to, win), MPI_ERR_RMA_SYNC, "a flush of nothing");
  refused(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC, "a flush of nothing");
  MPI_Win_fence(0, win);
  CHECK(MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win) == MPI_SUCCESS, "a get");
  CHECK(MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win) == MPI_SUCCESS, "a get");
  refused(MPI_Win_flush(to, win), MPI_ERR_RMA_SYNC, "a flush between fences");
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  refused(MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC,
          "after the last fence");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

/* All ranks add to counters of all ranks and put beside them: no update is lost. */
static void beside_accumulates(int round) {
  const long one = 1;
  MPI_Win_fence(0, win);
  for (int to = 0; to < world_size; ++to) {
    for (int i = 0; i < 100; ++i) {
      const long mine = value(world_rank, to, i, round);
      MPI_Accumulate(&one, 1, MPI_LONG, to, at(to, 0), 1, MPI_LONG, MPI_SUM, win);
      MPI_Put(&mine, 1, MPI_LONG, to, at(to, (MPI_Aint)world_rank * SLOTS + 1 + i % 50), 1,
              MPI_LONG, win);
      MPI_Win_sync(win);
    }
    MPI_Win_fence(0, win);
  }
  for (int from = 0; from < world_size; ++from)
    for (int i = 50; i < 100; ++i)
      CHECK(base[from * SLOTS + 1 + i % 50] == value(from, world_rank, i, round), "round %d: of %d",
            round, from);
  CHECK(base[0] == 100L * world_size, "round %d: %ld", round, base[0]);
}

/* Puts between a start and a complete, to one neighbour after the other. */
static void general(int round) {
  MPI_Group all, to_one, from_one;
  MPI_Win_get_group(win, &all);
  for (int step = 0; step < world_size; ++step) {
    const int to = (world_rank + step) % world_size;
    const int from = (world_rank - step + world_size) % world_size;
    MPI_Group_incl(all, 1, &to, &to_one);
    MPI_Group_incl(all, 1, &from, &from_one);
    MPI_Win_post(from_one, 0, win);
    MPI_Win_start(to_one, 0, win);
    for (int i = 0; i < SLOTS; ++i) {
      const long mine = value(world_rank, to, i, round);
      MPI_Put(&mine, 1, MPI_LONG, to, at(to, i), 1, MPI_LONG, win);
      if (i == 0) MPI_Win_sync(win);
    }
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    for (int i = 0; i < SLOTS; ++i)
      CHECK(base[i] == value(from, world_rank, i, round), "round %d, step %d: %ld", round, step,
            base[i]);
    MPI_Group_free(&to_one);
    MPI_Group_free(&from_one);
  }
  MPI_Group_free(&all);
}

static void attributes(MPI_Aint bytes) {
  void* found = NULL;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag);
  CHECK(flag && found == base, "the base");
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag);
  CHECK(flag && *(MPI_Aint*)found == bytes, "the size");
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &found, &flag);
  CHECK(flag && *(int*)found == (int)unit_of(world_rank), "the unit");
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag);
  CHECK(flag && *(int*)found == MPI_WIN_FLAVOR_ALLOCATE, "the flavour");
}

/* Neighbours' memory is there to be looked at, that of others is not. */
static void shared(void) {
  if (!spans_clusters(MPI_COMM_WORLD)) return;
  MPI_Win_lock_all(0, win);
  base[1] = 17 + world_rank;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int found = 0, all = 0;
  for (int rank = 0; rank < world_size; ++rank) {
    MPI_Aint size = -1;
    int unit = -1;
    long* there = base;
    MPI_Win_shared_query(win, rank, &size, &unit, &there);
    CHECK(unit == (int)unit_of(rank), "the unit of %d is %d", rank, unit);
    CHECK(rank != world_rank || there == base, "this process's own memory is not where it was");
    if (there == NULL) {
      CHECK(size == 0, "no memory of %d has %ld bytes", rank, (long)size);
      continue;
    }
    ++found;
    CHECK(size == (MPI_Aint)sizeof(long) * SLOTS * world_size + rank, "%ld bytes", (long)size);
    CHECK(there[1] == 17 + rank, "rank %d has %ld", rank, there[1]);
  }
  MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all < world_size * world_size, "memory of another cluster");
  CHECK(world_size < 4 || all > world_size, "no memory of a neighbour");
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* More than a process may have files open, one after the other; and some at once. */
static void many(void) {
  enum { AT_ONCE = 40 };
  MPI_Win wins[AT_ONCE];
  long* bases[AT_ONCE];
  for (int i = 0; i < AT_ONCE; ++i) {
    MPI_Win_allocate(i % 4 == world_rank % 4 ? 0 : 8 * i, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &bases[i], &wins[i]);
  }
  for (int i = 0; i < AT_ONCE; ++i) MPI_Win_free(&wins[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const MPI_Aint bytes = (MPI_Aint)sizeof(long) * SLOTS * world_size + world_rank;
  for (int round = 0; round < 3; ++round) {
    MPI_Win_allocate(bytes, (int)unit_of(world_rank), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    attributes(bytes);
    for (MPI_Aint i = 0; i < bytes; ++i) ((char*)base)[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    beside_accumulates(round);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    for (int step = 0; step < world_size; ++step)
      put_and_get((world_rank + step) % world_size, round);
    MPI_Win_unlock_all(win);
    for (int step = 0; step < world_size; ++step) {
      const int to = (world_rank + step) % world_size;
      MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
      put_and_get(to, round);
      MPI_Win_unlock(to, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    general(round);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
    base[0] = 0;
    MPI_Win_unlock(world_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    exclusive(20);
    shared();
    MPI_Win_free(&win);
  }
  many();
  MPI_Finalize();
  return 0;
}
