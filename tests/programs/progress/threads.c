/* One thread sits in a blocking call of the cluster's own while another leaves things under way on
   MPI_COMM_WORLD and computes. ranks: 4 */
#include <pthread.h>

#include "progress.h"

static MPI_Comm for_threads;
static volatile int begun, done;

static void* sit(void* unused) {
  (void)unused;
  while (!begun) {
  }
  MPI_Barrier(for_threads); /* entered before anything is under way on this rank, or after */
  done = 1;
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 0;
  }
  start_pairs();
  MPI_Comm_dup(pair, &for_threads);
  for (int o = 0; o < kNumObligations; ++o) {
    for (int first = 0; first < 2; ++first) {
      begun = done = 0;
      pthread_t thread;
      if (early) {
        MPI_Request q[2];
        pthread_create(&thread, NULL, sit, NULL);
        if (first) begun = 1;
        kObligations[o].begin(q);
        begun = 1;
        while (!done) { /* computes */
        }
        pthread_join(thread, NULL);
        MPI_Waitall(kObligations[o].requests, q, MPI_STATUSES_IGNORE);
        kObligations[o].check();
        for (int i = 0; i < kObligations[o].requests; ++i)
          if (q[i] != MPI_REQUEST_NULL) MPI_Request_free(&q[i]);
      } else {
        kObligations[o].need();
        MPI_Barrier(for_threads);
      }
    }
  }
  if (rank == 0) printf("threads: passed on %d ranks\n", size);
  MPI_Comm_free(&for_threads);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
