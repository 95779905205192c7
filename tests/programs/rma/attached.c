/* Accesses to a dynamic window that span regions attached side by side, in every order of
   attaching. Some skip the memory between two regions. ranks: 2 3 */
#include "rma.h"

enum { PART = 5000, PARTS = 3, ALL = PART * PARTS };

static int memory[ALL], value[ALL], got[ALL];

static void attach(MPI_Win win, const int* order) {
  for (int i = 0; i < PARTS; ++i) MPI_Win_attach(win, memory + PART * order[i], PART * sizeof(int));
}

static void detach(MPI_Win win, int part) { MPI_Win_detach(win, memory + PART * part); }

/* `count` ints from the target's address `at`, or one of `type`. */
static void access_all(MPI_Win win, int target, MPI_Aint at, int count, MPI_Datatype type) {
  const int ints = type == MPI_INT ? count : 2 * count, n = type == MPI_INT ? count : 1;
  for (int i = 0; i < ints; ++i) value[i] = i + 1, got[i] = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  MPI_Put(value, ints, MPI_INT, target, at, n, type, win);
  MPI_Win_flush(target, win);
  MPI_Accumulate(value, ints, MPI_INT, target, at, n, type, MPI_SUM, win);
  MPI_Win_flush(target, win);
  MPI_Get(got, ints, MPI_INT, target, at, n, type, win);
  MPI_Win_flush(target, win);
  for (int i = 0; i < ints; ++i) CHECK(got[i] == 2 * (i + 1), "got[%d] is %d", i, got[i]);
  MPI_Get_accumulate(value, ints, MPI_INT, got, ints, MPI_INT, target, at, n, type, MPI_REPLACE,
                     win);
  MPI_Win_flush(target, win);
  for (int i = 0; i < ints; ++i) CHECK(got[i] == 2 * (i + 1), "fetched[%d] is %d", i, got[i]);
  MPI_Request request;
  MPI_Rget(got, ints, MPI_INT, target, at, n, type, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ints; ++i) CHECK(got[i] == i + 1, "got[%d] is %d in the end", i, got[i]);
  MPI_Win_unlock(target, win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Aint mine, theirs;
  MPI_Get_address(memory, &mine);
  const int target = (world_rank + 1) % world_size;
  MPI_Sendrecv(&mine, 1, MPI_AINT, (world_rank + world_size - 1) % world_size, 0, &theirs, 1,
               MPI_AINT, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Datatype outer; /* the first and the third part, and nothing between */
  MPI_Type_vector(2, PART, 2 * PART, MPI_INT, &outer);
  MPI_Type_commit(&outer);

  static const int orders[][PARTS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
  for (int i = 0; i < 4; ++i) {
    attach(win, orders[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    access_all(win, target, theirs, ALL, MPI_INT);
    access_all(win, target, theirs + (PART - 2) * (MPI_Aint)sizeof(int), 4, MPI_INT);
    access_all(win, target, theirs, PART, outer);
    MPI_Barrier(MPI_COMM_WORLD);
    detach(win, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    access_all(win, target, theirs, PART, outer);
    if (spans_clusters(MPI_COMM_WORLD)) { /* natively that is undefined */
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      MPI_Get(got, ALL, MPI_INT, target, theirs, ALL, MPI_INT, win);
      const int code = class_of(MPI_Win_unlock(target, win));
      CHECK(code == MPI_ERR_RMA_RANGE, "what is detached was reached: %d", code);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    detach(win, 0);
    detach(win, 2);
  }
  MPI_Type_free(&outer);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
