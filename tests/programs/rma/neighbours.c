/* Neighbours in a cluster accumulate in memory of MPI_Win_allocate themselves; for all other
   origins the target does it. No element loses anything, one origin's accumulates keep their order,
   and none sent before a lock is granted is overtaken. ranks: 4 5 6 */
#include "rma.h"

enum { ELEMENTS = 3000, ROUNDS = 40 };

static void clear(void* memory, size_t size, MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
  memset(memory, 0, size);
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Win allocate(MPI_Aint size, int unit, void* base) {
  MPI_Win win;
  MPI_Win_allocate(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, &win);
  clear(*(void**)base, (size_t)size, win);
  return win;
}

/* All add to all elements of all, some with many at a time, some one by one, some with a datatype
 * that takes every other element. */
#define SUMS(name, ctype, mpitype)                                                              \
  static void name(void) {                                                                      \
    ctype *base, one[ELEMENTS], before[ELEMENTS];                                               \
    for (int i = 0; i < ELEMENTS; ++i) one[i] = 1;                                              \
    MPI_Win win = allocate(ELEMENTS * sizeof(ctype), sizeof(ctype), &base);                     \
    MPI_Datatype every_other;                                                                   \
    MPI_Type_vector(ELEMENTS / 2, 1, 2, mpitype, &every_other);                                 \
    MPI_Type_commit(&every_other);                                                              \
    MPI_Win_lock_all(0, win);                                                                   \
    for (int round = 0; round < ROUNDS; ++round) {                                              \
      const int to = (world_rank + round) % world_size;                                         \
      if (round % 3 == 0) {                                                                     \
        MPI_Accumulate(one, ELEMENTS, mpitype, to, 0, ELEMENTS, mpitype, MPI_SUM, win);         \
      } else if (round % 3 == 1) {                                                              \
        MPI_Get_accumulate(one, ELEMENTS / 2, mpitype, before, ELEMENTS / 2, mpitype, to, 1, 1, \
                           every_other, MPI_SUM, win);                                          \
        MPI_Accumulate(one, ELEMENTS / 2, mpitype, to, 0, 1, every_other, MPI_SUM, win);        \
      } else {                                                                                  \
        for (int i = 0; i < ELEMENTS; ++i)                                                      \
          MPI_Accumulate(one, 1, mpitype, to, i, 1, mpitype, MPI_SUM, win);                     \
      }                                                                                         \
      if (round % 2) MPI_Win_flush(to, win);                                                    \
    }                                                                                           \
    MPI_Win_unlock_all(win);                                                                    \
    MPI_Barrier(MPI_COMM_WORLD);                                                                \
    int rounds = 0;                                                                             \
    for (int from = 0; from < world_size; ++from)                                               \
      for (int round = 0; round < ROUNDS; ++round)                                              \
        rounds += (from + round) % world_size == world_rank;                                    \
    MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);                                          \
    for (int i = 0; i < ELEMENTS; ++i)                                                          \
      CHECK(base[i] == (ctype)rounds, #ctype " %d is %g, not %d", i, (double)base[i], rounds);  \
    MPI_Win_unlock(world_rank, win);                                                            \
    MPI_Type_free(&every_other);                                                                \
    MPI_Win_free(&win);                                                                         \
  }
SUMS(sum_shorts, short, MPI_SHORT)
SUMS(sum_ints, int, MPI_INT)
SUMS(sum_longs, long, MPI_LONG)
SUMS(sum_floats, float, MPI_FLOAT)
SUMS(sum_doubles, double, MPI_DOUBLE)

struct pair {
  double value;
  int index;
};

/* Pairs, bits, products and replacements that all make to one target. */
static void other_operations(void) {
  const int to = world_size / 2;
  struct pair *best, mine = {0, 0};
  MPI_Win win = allocate(sizeof *best, sizeof *best, &best);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 500; ++i) {
    mine.value = 1 + (i * 37 + world_rank * 11) % 500;
    mine.index = world_rank + 1;
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, to, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Win_flush(to, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  if (world_rank == to)
    CHECK(best->value == 500 && best->index == 1, "%g of %d", best->value, best->index);
  MPI_Win_unlock(world_rank, win);
  MPI_Win_free(&win);

  unsigned* bits;
  win = allocate(4 * sizeof *bits, sizeof *bits, &bits);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 16; ++i) {
    const unsigned bit = 1u << i, odd = 1u << world_rank;
    MPI_Accumulate(&bit, 1, MPI_UNSIGNED, to, 0, 1, MPI_UNSIGNED, MPI_BOR, win);
    MPI_Accumulate(&odd, 1, MPI_UNSIGNED, to, 1, 1, MPI_UNSIGNED, MPI_BXOR, win);
    MPI_Win_flush(to, win);
  }
  MPI_Accumulate(&(unsigned){1u << world_rank}, 1, MPI_UNSIGNED, to, 1, 1, MPI_UNSIGNED, MPI_BXOR,
                 win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  if (world_rank == to)
    CHECK(bits[0] == 0xffff && bits[1] == (1u << world_size) - 1, "%x %x", bits[0], bits[1]);
  MPI_Win_unlock(world_rank, win);
  MPI_Win_free(&win);
}

/* One origin's accumulates to one place are in order, whichever way each goes. */
static void in_order(void) {
  long* base;
  MPI_Win win = allocate((MPI_Aint)sizeof(long) * world_size, sizeof(long), &base);
  for (int round = 0; round < ROUNDS; ++round) {
    const int to = (world_rank + round) % world_size;
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    long before = -1;
    for (long i = 0; i < 50; ++i) {
      MPI_Accumulate(&i, 1, MPI_LONG, to, world_rank, 1, MPI_LONG, MPI_REPLACE, win);
      if (i % 7 == 3) MPI_Win_flush_local(to, win);
      if (i % 10 == 9) {
        MPI_Get_accumulate(NULL, 0, MPI_LONG, &before, 1, MPI_LONG, to, world_rank, 1, MPI_LONG,
                           MPI_NO_OP, win);
        MPI_Win_flush(to, win);
        CHECK(before == i, "round %d: %ld after %ld", round, before, i);
      }
    }
    MPI_Win_unlock(to, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* Requests, fences, and general active targets. */
static void other_epochs(void) {
  long *base, one = 1, before = -1;
  MPI_Win win = allocate(2 * sizeof(long), sizeof(long), &base);
  MPI_Win_fence(0, win);
  for (int to = 0; to < world_size; ++to)
    for (int i = 0; i < 100; ++i) {
      MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
      MPI_Fetch_and_op(&one, &before, MPI_LONG, to, 1, MPI_SUM, win);
    }
  MPI_Win_fence(0, win);
  CHECK(base[0] == 100L * world_size && base[1] == base[0], "%ld, %ld", base[0], base[1]);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  MPI_Group all, others;
  MPI_Win_get_group(win, &all);
  MPI_Group_excl(all, 1, &world_rank, &others);
  MPI_Win_post(others, 0, win);
  MPI_Win_start(others, 0, win);
  for (int to = 0; to < world_size; ++to)
    for (int i = 0; i < 100 && to != world_rank; ++i)
      MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  CHECK(base[0] == 100L * (2 * world_size - 1), "%ld", base[0]);
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 100; ++i) {
    const int to = i % world_size;
    MPI_Request requests[2];
    MPI_Raccumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win, &requests[0]);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, to, 1, 1, MPI_LONG, MPI_SUM, win,
                        &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(before >= 100L * world_size, "%ld was there", before);
    MPI_Win_flush(to, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  long mine[2], sums[2];
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  memcpy(mine, base, sizeof mine);
  MPI_Win_unlock(world_rank, win);
  MPI_Allreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sums[0] == 100L * world_size * (2 * world_size), "%ld", sums[0]);
  CHECK(sums[1] == 100L * world_size * (world_size + 1), "%ld", sums[1]);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  sum_shorts();
  sum_ints();
  sum_longs();
  sum_floats();
  sum_doubles();
  other_operations();
  in_order();
  other_epochs();
  MPI_Finalize();
  return 0;
}
