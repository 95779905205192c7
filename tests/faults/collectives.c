/* collectives MODE RANK [SECONDS]: RANK makes an error in a collective of a communicator that
 * returns errors, and so does not do what others wait for. Or the others need not wait. Then all
 * sleep. An intercommunicator has the even ranks on one side, the odd ones on the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCount = 100 };

int main(int argc, char** argv) {
  static int mine[kCount];
  MPI_Init(&argc, &argv);
  int rank, error = MPI_SUCCESS;
  MPI_Comm comm, side, inter;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const char* const mode = argv[1];
  const int wrong = rank == atoi(argv[2]);
  /* What came before counts. */
  MPI_Bcast(mine, -1, MPI_INT, 0, comm);
  MPI_Barrier(comm);
  if (!strcmp(mode, "forgotten")) {
    /* Rank 0 has begun many since, and cannot tell any more what the first was. */
    if (wrong) MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < kCount / 2 && error == MPI_SUCCESS; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      error = MPI_Ibcast(mine, wrong ? -1 : i, MPI_INT, 0, comm, &request);
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, atoi(argv[2]), 2, MPI_COMM_WORLD);
  }
  if (!strcmp(mode, "leaf")) error = MPI_Bcast(mine, wrong ? kCount / 2 : kCount, MPI_INT, 0, comm);
  const int root = rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0;
  if (!strcmp(mode, "inter-leaf")) {
    /* Rank 1 hears of it before it begins. */
    if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    error = MPI_Bcast(mine, wrong ? kCount / 2 : kCount, MPI_INT, root, inter);
    if (rank == 3) MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
  }
  if (argc > 3) sleep((unsigned)atoi(argv[3]));
  if (error != MPI_SUCCESS) printf("rank %d has an error\n", rank);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("all went on\n");
  MPI_Finalize();
  return 0;
}
