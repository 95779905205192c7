/* Windows between clusters whose processors differ: puts, gets and replacements of every kind of
   data. Accumulates that compute are left out by a process that only claims to be on another
   processor. */
#include "kinds.h"

static char *window_memory, out[ROOM * 4], in[ROOM * 4];
static MPI_Win window;

static void moves(const struct kind* k) {
  for (int a = 0; a < size; ++a) {
    for (int b = 0; b < size; ++b) {
      if (a == b) continue;
      if (rank == b) clear(window_memory, ROOM * 4);
      fill_kind(k, out, BLOCK, 4 * a + b);
      MPI_Win_fence(0, window);
      if (rank == a) {
        MPI_Put(out, BLOCK, k->type, b, 0, BLOCK, k->type, window);
        check_kind(k, out, BLOCK, 4 * a + b, "the origin of MPI_Put");
      }
      MPI_Win_fence(0, window);
      if (rank == b) check_kind(k, window_memory, BLOCK, 4 * a + b, "MPI_Put");
      clear(in, sizeof in);
      MPI_Win_fence(0, window);
      if (rank == a) MPI_Get(in, BLOCK, k->type, b, 0, BLOCK, k->type, window);
      MPI_Win_fence(0, window);
      if (rank == a) check_kind(k, in, BLOCK, 4 * a + b, "MPI_Get");
    }
  }
}

static void requests(const struct kind* k, int target) {
  MPI_Request request;
  fill_kind(k, window_memory, BLOCK, rank);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    clear(in, sizeof in);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Rget(in, BLOCK, k->type, target, 0, BLOCK, k->type, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_kind(k, in, BLOCK, target, "MPI_Rget");
    fill_kind(k, out, BLOCK, 9);
    MPI_Rput(out, BLOCK, k->type, target, 0, BLOCK, k->type, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(target, window);
  }
  MPI_Barrier(WORLD);
  if (rank == target) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    check_kind(k, window_memory, BLOCK, 9, "MPI_Rput");
    MPI_Win_unlock(rank, window);
  }
  MPI_Barrier(WORLD);
}

/* Predefined kinds of one number. */
static void replacements(const struct kind* k, int target) {
  fill_kind(k, window_memory, 2, rank);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    fill_kind(k, out, 2, 9);
    clear(in, sizeof in);
    MPI_Get_accumulate(out, 2, k->type, in, 2, k->type, target, 0, 2, k->type, MPI_REPLACE, window);
    MPI_Win_flush(target, window);
    check_kind(k, in, 2, target, "MPI_Get_accumulate");
    clear(in, sizeof in);
    MPI_Fetch_and_op(NULL, in, k->type, target, 0, MPI_NO_OP, window);
    MPI_Win_flush(target, window);
    check_kind(k, in, 1, 9, "MPI_Fetch_and_op");
    fill_kind(k, out, 2, 8);
    MPI_Accumulate(out, 2, k->type, target, 0, 2, k->type, MPI_REPLACE, window);
    MPI_Win_unlock(target, window);
  }
  MPI_Barrier(WORLD);
  if (rank == target) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    check_kind(k, window_memory, 2, 8, "MPI_Accumulate");
    MPI_Win_unlock(rank, window);
  }
  MPI_Barrier(WORLD);
}

static void swaps(const struct kind* k, int target) {
  fill_kind(k, window_memory, 1, 6);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    char wanted[16];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    fill_kind(k, out, 1, 6);
    fill_kind(k, wanted, 1, 7);
    MPI_Compare_and_swap(wanted, out, in, k->type, target, 0, window);
    MPI_Win_flush(target, window);
    check_kind(k, in, 1, 6, "MPI_Compare_and_swap");
    MPI_Compare_and_swap(wanted, out, in, k->type, target, 0, window);
    MPI_Win_unlock(target, window);
    check_kind(k, in, 1, 7, "MPI_Compare_and_swap in vain");
  }
  MPI_Barrier(WORLD);
}

struct value_and_place {
  long double value;
  int place;
};

/* All add to rank 0, then to rank 2. */
static void sums(int target, int differ) {
  long double* const number = (long double*)window_memory;
  struct value_and_place* const most = (struct value_and_place*)(window_memory + 64);
  for (int i = 0; i < 3; ++i) number[i] = 100;
  most->value = 0.5L;
  most->place = -1;
  int* const counter = (int*)(window_memory + 256);
  double* const real = (double*)(window_memory + 264);
  *counter = 5;
  *real = 0.5;
  MPI_Win_fence(0, window);
  const long double mine[] = {rank + 1, 1, 0.5L};
  struct value_and_place own = {rank == 1 ? 7.5L : 0.25L, rank};
  int one = 1;
  double half = 0.5;
  MPI_Accumulate(mine, 3, MPI_LONG_DOUBLE, target, 0, 3, MPI_LONG_DOUBLE, MPI_SUM, window);
  if (!differ) {
    MPI_Accumulate(&own, 1, MPI_LONG_DOUBLE_INT, target, 64, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC,
                   window);
  }
  MPI_Accumulate(&one, 1, MPI_INT, target, 256, 1, MPI_INT, MPI_SUM, window);
  MPI_Accumulate(&half, 1, MPI_DOUBLE, target, 264, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  if (rank == target) {
    CHECK(number[0] == 110 && number[1] == 104 && number[2] == 102, "sums: %Lg %Lg %Lg", number[0],
          number[1], number[2]);
    CHECK(differ || (most->value == 7.5L && most->place == 1), "MPI_MAXLOC: %Lg at %d",
          most->value, most->place);
    CHECK(*counter == 9 && *real == 2.5, "sums: %d %g", *counter, *real);
  }
  MPI_Win_fence(0, window);
  long double before = -1, add = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Fetch_and_op(&add, &before, MPI_LONG_DOUBLE, target, 0, MPI_SUM, window);
  MPI_Win_unlock(target, window);
  CHECK(before >= 110 && before <= 113, "MPI_Fetch_and_op brought %Lg", before);
  MPI_Barrier(WORLD);
}

int main(int argc, char** argv) {
  start_kinds(argc, argv);
  make_kinds();
  MPI_Win_allocate(ROOM * 4, 1, MPI_INFO_NULL, WORLD, &window_memory, &window);
  const int differ = orders_differ();
  for (int i = 0; i < number_of_kinds; ++i) {
    if (differ && is_long_double_int(&kinds[i])) continue;
    moves(&kinds[i]);
    requests(&kinds[i], 2);
    requests(&kinds[i], 3);
    if (kinds[i].parts > 1) continue;
    for (int target = 1; target < 4; ++target) {
      replacements(&kinds[i], target);
      if (strchr("sil", kinds[i].part[0].kind)) swaps(&kinds[i], target);
    }
  }
  int all_real = !claims;
  for (int r = 0; r < size; ++r) {
    char real = (char)all_real;
    MPI_Bcast(&real, 1, MPI_CHAR, r, WORLD);
    all_real = all_real && real;
  }
  for (int target = 0; all_real && target < size; ++target) sums(target, differ);
  MPI_Win_free(&window);
  free_kinds();
  return finish("windows");
}
