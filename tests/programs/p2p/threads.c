/* MPI_THREAD_MULTIPLE: each thread of a rank speaks with the same thread of every other rank, in
   its own tags: named, wild, blocking and not. ranks: 2 4 */
#include <pthread.h>

#include "p2p.h"

enum { kThreads = 3, kRounds = 30 };

static void* work(void* argument) {
  const int me = (int)(size_t)argument;
  for (int round = 0; round < kRounds; ++round) {
    const int tag = 100 * me + round % 3;
    int* out = malloc(sizeof(int) * (size_t)size);
    int* in = malloc(sizeof(int) * (size_t)size);
    MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)(2 * size));
    MPI_Status* statuses = malloc(sizeof(MPI_Status) * (size_t)(2 * size));
    for (int r = 0; r < size; ++r) {
      const int source = round % 3 == 1 ? MPI_ANY_SOURCE : r;
      MPI_Irecv(&in[r], 1, MPI_INT, source, tag, WORLD, &requests[r]);
    }
    for (int r = 0; r < size; ++r) {
      out[r] = element(rank, r, me, round);
      if (round % 2) {
        MPI_Isend(&out[r], 1, MPI_INT, r, tag, WORLD, &requests[size + r]);
      } else {
        MPI_Send(&out[r], 1, MPI_INT, r, tag, WORLD);
        requests[size + r] = MPI_REQUEST_NULL;
      }
    }
    MPI_Waitall(2 * size, requests, statuses);
    for (int r = 0; r < size; ++r) {
      const int source = statuses[r].MPI_SOURCE;
      CHECK(source >= 0 && source < size && (round % 3 == 1 || source == r),
            "thread %d, round %d: receive %d has source %d", me, round, r, source);
      CHECK(statuses[r].MPI_TAG == tag, "thread %d: tag %d", me, statuses[r].MPI_TAG);
      CHECK(in[r] == element(source, rank, me, round), "thread %d, round %d: %d from rank %d", me,
            round, in[r], source);
    }
    /* A step together, so that wildcards of one round take nothing of the next but one. */
    const int to = (rank + 1) % size, from = (rank - 1 + size) % size;
    for (int step = 0; step < size; ++step)
      MPI_Sendrecv(out, 1, MPI_INT, to, 100 * me + 50, in, 1, MPI_INT, from, 100 * me + 50, WORLD,
                   MPI_STATUS_IGNORE);
    free(out), free(in), free(requests), free(statuses);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)(size_t)i);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  return finish("threads");
}
