/* MPI-4.0 section 11.2.2: the first half of the ranks is in MPI_Finalize while what they have sent, and
 * freed, is still under way. ranks: 4 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kBytes = 100000, kSends = 100 };

int main(int argc, char** argv) {
  int rank, size, errors = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const data = calloc(kSends, kBytes);
  const int sends = rank < size / 2;
  if (!sends) usleep(20000);
  for (int k = 0; k < kSends; ++k) {
    MPI_Request request;
    if (sends) {
      data[k * kBytes] = (char)k;
      MPI_Isend(data + k * kBytes, kBytes, MPI_CHAR, rank + size / 2, 9, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    } else {
      MPI_Recv(data, kBytes, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (data[0] != (char)k) errors = 1;
      if (k % 20 == 0) usleep(2000);
    }
  }
  MPI_Finalize();
  if (errors) fprintf(stderr, "rank %d: a message is wrong\n", rank);
  return errors;
}
