/* Messages many times larger than the window, in all directions at once, received late and in
   another order than sent. ranks: 2 4 */
#include "p2p.h"

enum { kElements = 2 << 20, kMessages = 2 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int n = kMessages * size;
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)(2 * n));
  int** data = malloc(sizeof(int*) * (size_t)(2 * n));
  int k = 0;
  for (int r = 0; r < size; ++r)
    for (int m = 0; m < kMessages; ++m, ++k) {
      data[k] = malloc(sizeof(int) * kElements);
      fill(data[k], kElements, rank, r, m);
      MPI_Isend(data[k], kElements, MPI_INT, r, m, WORLD, &requests[k]);
    }
  int small = -1;
  MPI_Request* behind = malloc(sizeof(MPI_Request) * (size_t)size);
  for (int r = 0; r < size; ++r) MPI_Isend(&rank, 1, MPI_INT, r, 77, WORLD, &behind[r]);
  for (int r = 0; r < size; ++r) {
    MPI_Recv(&small, 1, MPI_INT, r, 77, WORLD, MPI_STATUS_IGNORE);
    CHECK(small == r, "a small message behind large ones is %d", small);
  }
  MPI_Waitall(size, behind, MPI_STATUSES_IGNORE);
  free(behind);
  for (int r = size - 1; r >= 0; --r)
    for (int m = kMessages - 1; m >= 0; --m, ++k) {
      data[k] = malloc(sizeof(int) * kElements);
      MPI_Irecv(data[k], kElements, MPI_INT, m == 0 ? MPI_ANY_SOURCE : r, m, WORLD, &requests[k]);
    }
  MPI_Status* statuses = malloc(sizeof(MPI_Status) * (size_t)(2 * n));
  MPI_Waitall(2 * n, requests, statuses);
  for (int i = n; i < 2 * n; ++i) {
    check_status(&statuses[i], statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, kElements, MPI_INT,
                 "a large message");
    check_data(data[i], kElements, statuses[i].MPI_SOURCE, rank, statuses[i].MPI_TAG,
               "a large message");
  }
  for (int i = 0; i < 2 * n; ++i) free(data[i]);
  free(data), free(requests), free(statuses);
  return finish("large");
}
