/* Puts, accumulates and gets of over 2^31 bytes, with the _c names, to the window of the last. */
#include "../../programs/rma/rma.h"

enum { kWords = 550000000 };

static const MPI_Count kBytes = (MPI_Count)kWords * 4;

static int word(int at, int number) { return (int)(at * 2654435761u >> 3) ^ number; }

static void fill(int* data, int number) {
  for (int k = 0; k < kWords; ++k) data[k] = word(k, number);
}

static void check(const int* data, int number) {
  for (int k = 0; k < kWords; ++k)
    CHECK(data[k] == word(k, number), "%d: word %d is wrong", number, k);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int target = world_size - 1;
  const int origin = world_rank == 0, mine = world_rank == target;
  int* window;
  MPI_Win win;
  MPI_Win_allocate(mine ? kBytes : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  int* const data = malloc((size_t)kBytes);
  if (origin) fill(data, 1);
  if (mine) memset(window, 0, (size_t)kBytes);

  MPI_Win_fence(0, win);
  if (origin) MPI_Put_c(data, kBytes, MPI_BYTE, target, 0, kBytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  if (mine) check(window, 1);
  MPI_Win_fence(0, win);
  if (origin) fill(data, 1 ^ 2);
  if (origin) MPI_Accumulate_c(data, kWords, MPI_INT, target, 0, kWords, MPI_INT, MPI_BXOR, win);
  MPI_Win_fence(0, win);
  if (mine) {
    for (int k = 0; k < kWords; ++k) CHECK(window[k] == 2, "word %d is %d", k, window[k]);
    fill(window, 3);
  }
  MPI_Win_fence(0, win);
  if (origin) MPI_Get_c(data, kWords, MPI_INT, target, 0, kWords, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (origin) check(data, 3);

  free(data);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
