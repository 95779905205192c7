/* Threads that mark partitions while another waits for them, between the first and the last rank.
   ranks: 2 */
#include "partitioned.h"

#if HAS_PARTITIONED
#include <pthread.h>

enum { kThreads = 4, kEach = 8, kElements = 500, kRounds = 20 };
static int data[kThreads * kEach * kElements];
static MPI_Request request;
static int round_;

static void* fill(void* thread) {
  const int t = (int)(long)thread;
  for (int k = 0; k < kEach; ++k) {
    const int partition = k * kThreads + t;
    for (int i = 0; i < kElements; ++i) data[partition * kElements + i] = round_ + partition + i;
    MPI_Pready(partition, request);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (all_have_it() && provided == MPI_THREAD_MULTIPLE) {
    const int parts = kThreads * kEach;
    if (rank == 0) {
      MPI_Psend_init(data, parts, kElements, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
      for (round_ = 0; round_ < kRounds; ++round_) {
        pthread_t threads[kThreads];
        MPI_Start(&request);
        const MPI_Request kept = request;
        for (long t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, fill, (void*)t);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == kept, "the handle of the request has changed");
        for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
      }
    } else {
      MPI_Precv_init(data, parts, kElements, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
      for (int round = 0; round < kRounds; ++round) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int p = 0; p < parts; ++p)
          for (int i = 0; i < kElements; ++i)
            CHECK(data[p * kElements + i] == round + p + i, "round %d, partition %d", round, p);
      }
    }
    MPI_Request_free(&request);
  }
  return finish("threads of partitions");
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  all_have_it();
  return finish("threads of partitions");
}
#endif
