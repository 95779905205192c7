/* A counter, a lock by compare and swap, and a hash table, hammered by all ranks: nothing is lost.
   ranks: 2 4 5 */
#include "rma.h"

#define ROUNDS 300
#define SLOTS 64

static void clear(void* memory, size_t size, MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, win);
  memset(memory, 0, size);
  MPI_Win_unlock(world_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void count(void) {
  long* memory;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  clear(memory, 2 * sizeof *memory, win);
  char* seen = calloc((size_t)world_size * ROUNDS + 1, 1);
  MPI_Win_lock_all(0, win);
  const long one = 1;
  for (int i = 0; i < ROUNDS; ++i) {
    long before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, world_size - 1, 0, MPI_SUM, win);
    MPI_Win_flush(world_size - 1, win);
    CHECK(before >= 0 && before < (long)world_size * ROUNDS, "the counter was %ld", before);
    CHECK(!seen[before], "%ld came twice", before);
    seen[before] = 1;
    MPI_Accumulate(&one, 1, MPI_LONG, i % world_size, 1, 1, MPI_LONG, MPI_SUM, win);
  }
  MPI_Win_unlock_all(win);
  char* all = malloc((size_t)world_size * ROUNDS + 1);
  MPI_Allreduce(seen, all, world_size * ROUNDS, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < world_size * ROUNDS; ++i) CHECK(all[i] == 1, "%d came %d times", i, all[i]);
  long mine = 0, sum = 0, none = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  MPI_Get_accumulate(&none, 1, MPI_LONG, &mine, 1, MPI_LONG, world_rank, 1, 1, MPI_LONG, MPI_NO_OP,
                     win);
  MPI_Win_unlock(world_rank, win);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == (long)world_size * ROUNDS, "%ld were added", sum);
  MPI_Win_free(&win);
  free(seen);
  free(all);
}

/* A lock that rank 0 keeps guards a number that rank `world_size - 1` keeps. */
static void guarded(void) {
  int* memory;
  MPI_Win win;
  /* MPICH 4.0 natively loses puts to windows unless their sizes are multiples of 16. */
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  clear(memory, 4 * sizeof *memory, win);
  MPI_Win_lock_all(0, win);
  const int free_ = 0, taken = world_rank + 1, keeper = world_size - 1;
  for (int i = 0; i < 20; ++i) {
    int before = -1, number = 0;
    do {
      MPI_Compare_and_swap(&taken, &free_, &before, MPI_INT, 0, 0, win);
      MPI_Win_flush(0, win);
    } while (before != free_);
    MPI_Get(&number, 1, MPI_INT, keeper, 1, 1, MPI_INT, win);
    MPI_Win_flush(keeper, win);
    ++number;
    MPI_Put(&number, 1, MPI_INT, keeper, 1, 1, MPI_INT, win);
    MPI_Win_flush(keeper, win);
    MPI_Accumulate(&free_, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  if (world_rank == keeper) CHECK(memory[1] == 20 * world_size, "the number is %d", memory[1]);
  MPI_Win_unlock(world_rank, win);
  MPI_Win_free(&win);
}

/* Exclusive locks around a read and a write. */
static void exclusive(void) {
  long number = 0;
  MPI_Win win;
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 20; ++i) {
    const int target = (world_rank + i) % world_size;
    long read = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&read, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    ++read;
    MPI_Put(&read, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  long mine = number, sum = 0;
  MPI_Win_unlock(world_rank, win);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == 20L * world_size, "%ld increments of %d are left", sum, 20 * world_size);
  MPI_Win_free(&win);
}

/* Keys go into the first free slot after their own, of tables on all ranks. */
static void hash_table(void) {
  long* table;
  MPI_Win win;
  MPI_Win_allocate(SLOTS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
  clear(table, SLOTS * sizeof(long), win);
  MPI_Win_lock_all(0, win);
  unsigned state = 17u + (unsigned)world_rank;
  const long empty = 0;
  for (int i = 0; i < SLOTS / 2; ++i) {
    const long key = world_rank * 1000 + i + 1;
    unsigned place = draw(&state, (unsigned)(SLOTS * world_size));
    for (;;) {
      long before = -1;
      MPI_Compare_and_swap(&key, &empty, &before, MPI_LONG, (int)(place / SLOTS), place % SLOTS,
                           win);
      MPI_Win_flush((int)(place / SLOTS), win);
      if (before == empty) break;
      CHECK(before != key, "%ld is there already", key);
      place = (place + 1) % (unsigned)(SLOTS * world_size);
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, win);
  long mine[2] = {0, 0}, all[2];
  for (int i = 0; i < SLOTS; ++i) {
    mine[0] += table[i] != 0;
    mine[1] += table[i];
  }
  MPI_Win_unlock(world_rank, win);
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  long sum = 0;
  for (int r = 0; r < world_size; ++r)
    for (int i = 0; i < SLOTS / 2; ++i) sum += r * 1000 + i + 1;
  CHECK(all[0] == (long)world_size * SLOTS / 2 && all[1] == sum, "%ld keys, sum %ld, not %ld",
        all[0], all[1], sum);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  count();
  guarded();
  exclusive();
  hash_table();
  MPI_Finalize();
  return 0;
}
