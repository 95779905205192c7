/* windows MODE RANK: RANK is killed while all others are about to wait for it on a window. */
#include "last_call.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  const char* const mode = argv[1];
  enum { kBytes = 1 << 20 };
  char *memory, *data = calloc(1, kBytes);
  MPI_Win win;
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

  if (!strcmp(mode, "lock")) { /* held by the one that dies */
    const int target = (chosen + 1) % size;
    if (rank == chosen) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Put(data, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
      MPI_Win_flush(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    last_call();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(data, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
    MPI_Win_unlock(target, win);
  }
  if (!strcmp(mode, "fence")) {
    MPI_Win_fence(0, win);
    MPI_Put(data, kBytes, MPI_BYTE, chosen, 0, kBytes, MPI_BYTE, win);
    last_call();
    MPI_Win_fence(0, win);
  }
  if (!strcmp(mode, "flush")) {
    MPI_Win_lock_all(0, win);
    last_call();
    for (;;) {
      MPI_Put(data, kBytes, MPI_BYTE, chosen, 0, kBytes, MPI_BYTE, win);
      MPI_Win_flush(chosen, win);
    }
  }
  if (!strcmp(mode, "post")) {
    MPI_Group world, target;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &chosen, &target);
    last_call();
    MPI_Win_start(target, 0, win);
    MPI_Get(data, kBytes, MPI_BYTE, chosen, 0, kBytes, MPI_BYTE, win);
    MPI_Win_complete(win);
  }
  printf("rank %d: nothing waited\n", rank);
  MPI_Finalize();
  return 0;
}
