/* Threads that wait in MPI for another cluster are cancelled (pthread_cancel). MPI calls need not
 * be cancellation points: such a call ends as usual, and its thread ends at the next such point.
 * Then other threads can use MPI as before. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kCalls = 8, kLong = 1 << 20, kWanted = 7 };
static int rank, partner;
static MPI_Comm comm;
static atomic_int begun, outcome;
static char* data;

static void* wait_in(void* call) {
  const int number = *(int*)call, one = 1;
  int came = -1, sum = 0;
  MPI_Request request;
  MPI_Message message;
  begun = 1;
  switch (number) {
    case 0:
      MPI_Recv(&came, 1, MPI_INT, partner, number, comm, MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Irecv(&came, 1, MPI_INT, MPI_ANY_SOURCE, number, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Probe(partner, number, comm, MPI_STATUS_IGNORE);
      MPI_Recv(&came, 1, MPI_INT, partner, number, comm, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Mprobe(MPI_ANY_SOURCE, number, comm, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(&came, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      break;
    case 4:
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      came = kWanted;
      break;
    case 5:
      MPI_Barrier(comm);
      came = kWanted;
      break;
    case 6:
      MPI_Ssend(data, kLong, MPI_BYTE, partner, number, comm);
      came = kWanted;
      break;
    case 7:
      MPI_Ibarrier(comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      came = kWanted;
      break;
  }
  outcome = came;
  pthread_testcancel();
  return NULL;
}

/* The other side of a call. */
static void let_go(int number) {
  int sum, one = 1;
  const int wanted = kWanted;
  MPI_Request request;
  if (number < 4) MPI_Send(&wanted, 1, MPI_INT, partner, number, comm);
  if (number == 4) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (number == 5) MPI_Barrier(comm);
  if (number == 6) MPI_Recv(data, kLong, MPI_BYTE, partner, number, comm, MPI_STATUS_IGNORE);
  if (number == 7) {
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int provided, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  partner = (rank + size / 2) % size;
  data = calloc(kLong, 1);
  for (int number = 0; number < kCalls; ++number) {
    if (rank < size / 2) {
      pthread_t thread;
      void* result = NULL;
      begun = outcome = 0;
      pthread_create(&thread, NULL, wait_in, &number);
      while (!begun) usleep(100);
      usleep(20000); /* it is likely to wait by now */
      pthread_cancel(thread);
      MPI_Barrier(MPI_COMM_WORLD);
      pthread_join(thread, &result);
      if (outcome != kWanted || result != PTHREAD_CANCELED) {
        fprintf(stderr, "rank %d, call %d: came %d\n", rank, number, outcome);
        return 1;
      }
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      let_go(number);
    }
    int theirs = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, partner, 5, &theirs, 1, MPI_INT, partner, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (theirs != partner) return 1;
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
