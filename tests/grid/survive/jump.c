/* The error handler leaves each failed call by longjmp, as checkpointing programs do. The call
   keeps nothing of its objects then, and the communicators work on. jump RANK: its cluster fails.
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../programs/checking.h"

enum { KINDS = 12, ROUNDS = 3 };

static jmp_buf back;

static void leave(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(*code, text, &length);
  CHECK(*code == MPIX_ERR_PROC_FAILED || *code == MPIX_ERR_PROC_FAILED_PENDING, "%s", text);
  longjmp(back, 1);
}

/* Calls that end with an error. Some are left with a request, which is given back. */
static MPI_Request left;

static void fail(MPI_Comm comm, int kind, int dead) {
  static int word, words[2];
  int flag = 0, index;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Comm made;
  left = MPI_REQUEST_NULL;
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Recv(&word, 1, MPI_INT, dead, 1, comm, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Ssend(&word, 1, MPI_INT, dead, 1, comm);
      break;
    case 3:
      MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
      break;
    case 4:
      MPI_Irecv(&word, 1, MPI_INT, dead, 1, comm, &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Irecv(&words[0], 1, MPI_INT, dead, 1, comm, &requests[0]);
      MPI_Irecv(&words[1], 1, MPI_INT, dead, 2, comm, &requests[1]);
      MPI_Waitall(2, requests, statuses);
      break;
    case 6:
      MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &left);
      MPI_Wait(&left, MPI_STATUS_IGNORE);
      break;
    case 7:
      MPI_Irecv(&word, 1, MPI_INT, dead, 1, comm, &requests[0]);
      MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 8:
      MPI_Irecv(&word, 1, MPI_INT, dead, 1, comm, &requests[0]);
      while (!flag) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      break;
    case 9:
      MPI_Sendrecv(&word, 1, MPI_INT, dead, 1, &words[0], 1, MPI_INT, dead, 1, comm,
                   MPI_STATUS_IGNORE);
      break;
    case 10:
      MPI_Comm_dup(comm, &made);
      break;
    default:
      MPIX_Comm_agree(comm, &flag);
  }
  CHECK(0, "kind %d ends without an error", kind);
}

int main(int argc, char** argv) {
  volatile int kind, round;
  int rank, size, dead, sum = 0;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm living;
  MPI_Errhandler mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  dead = atoi(argv[1]);
  MPI_Comm_create_errhandler(leave, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Errhandler_free(&mine);
  if (rank == dead) raise(SIGKILL);
  for (round = 0; round < ROUNDS; ++round) {
    for (kind = 0; kind < KINDS; ++kind) {
      if (setjmp(back) == 0) fail(comm, kind, dead);
      if (left == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&left);
      MPI_Wait(&left, MPI_STATUS_IGNORE);
    }
    MPIX_Comm_shrink(comm, &living);
    MPI_Comm_set_errhandler(living, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_size(living, &size);
    MPI_Comm_rank(living, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, living);
    CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
    MPI_Comm_free(&living);
  }
  if (rank == 0) printf("%d go on\n", size);
  MPI_Finalize();
  return 0;
}
