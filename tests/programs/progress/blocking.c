/* A rank's operations continue while it is in a blocking call of its own cluster. The program tries
   every kind of operation against every kind of call. needs: blocks. ranks: 4 */
#include "progress.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start_pairs();
  for (int o = 0; o < kNumObligations; ++o)
    for (int c = 0; c < kNumCalls; ++c) meet(&kObligations[o], &kCalls[c]);
  if (rank == 0) printf("blocking: passed on %d ranks\n", size);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
