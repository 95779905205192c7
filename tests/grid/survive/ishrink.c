/* Shrinks while other things go on: a rank begins, and another does so when it has heard of that.
   A cluster with one rank fails. ishrink CLUSTER */
#include <signal.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static void has_members(MPI_Comm comm, int wanted) {
  int one = 1, sum = 0;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "no sum");
  CHECK(sum == wanted, "%d members, not %d", sum, wanted);
}

int main(int argc, char** argv) {
  int rank, size, flag = 6;
  MPI_Comm comm, smaller = MPI_COMM_NULL, twice[2];
  MPI_Request request, both[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (!strcmp(isthmus_cluster_name(isthmus_cluster()), argv[1])) raise(SIGKILL);
  if (rank > 0) MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
  CHECK(isthmus_comm_ishrink(comm, &smaller, &request) == MPI_SUCCESS, "it cannot be shrunk");
  for (int other = 1; rank == 0 && other < size; ++other) {
    MPI_Send(NULL, 0, MPI_BYTE, other, 1, comm); /* also to one that has failed */
  }
  isthmus_comm_agree(comm, &flag); /* another agreement under way: an error tells of the failure */
  CHECK(flag == 6, "the flag is %d", flag);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "it has not been shrunk");
  has_members(smaller, size - 1);
  CHECK(isthmus_comm_revoke(comm) == MPI_SUCCESS, "it cannot be revoked");
  CHECK(isthmus_comm_ishrink(comm, &twice[0], &both[0]) == MPI_SUCCESS, "not again");
  CHECK(isthmus_comm_ishrink(smaller, &twice[1], &both[1]) == MPI_SUCCESS, "not the smaller one");
  CHECK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "not both");
  has_members(twice[1], size - 1);
  has_members(twice[0], size - 1);
  MPI_Comm_free(&twice[0]);
  MPI_Comm_free(&twice[1]);
  MPI_Comm_free(&comm);
  MPI_Comm_rank(smaller, &rank);
  if (rank == 0) printf("%d go on\n", size - 1);
  MPI_Finalize();
  return 0;
}
