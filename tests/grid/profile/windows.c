/* Rank 0 waits for a lock that the last rank holds, then for one that its neighbour holds. Then all
   ranks of the first cluster wait for the end of an exposure epoch of the last rank. */
#include "awaited.h"

static void in_turns(MPI_Win window, int rank, int target, const char* file) {
  int one = 1;
  if (rank == target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    MPI_Win_flush(target, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == target) {
    late(file);
    MPI_Win_unlock(target, window);
  }
  if (rank == 0) {
    here(file);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(&one, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    if (target != 1) MPI_Win_flush(target, window); /* far */
    MPI_Win_unlock(target, window);
  }
  MPI_Barrier(MPI_COMM_SELF);
}
int main(int argc, char** argv) {
  int rank, size, value = 0, last;
  MPI_Win window;
  MPI_Group world, one;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  in_turns(window, rank, last, "far");
  MPI_Barrier(MPI_COMM_WORLD);
  in_turns(window, rank, 1, "near");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int other = rank == 0 ? last : 0;
  MPI_Group_incl(world, 1, &other, &one);
  if (rank == 0) {
    MPI_Win_post(one, 0, window);
    here("exposed");
    MPI_Win_wait(window);
  } else if (rank == last) {
    MPI_Win_start(one, 0, window);
    late("exposed");
    MPI_Win_complete(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
