/* The living members start as many processes as have failed, and give them the ranks of those.
   respawn RANK: its cluster fails. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>

#include "../../programs/checking.h"

/* `rank`: in the communicator that was lost. */
static void restore(MPI_Comm inter, MPI_Comm side, int rank) {
  int flag, both, size, now;
  MPI_Comm merged, whole;
  flag = both = MPI_Intercomm_merge(inter, 0, &merged) == MPI_SUCCESS;
  CHECK(MPIX_Comm_agree(side, &flag) == MPI_SUCCESS && flag, "my side has not merged");
  CHECK(MPIX_Comm_agree(inter, &both) == MPI_SUCCESS && both, "the other side has not merged");
  CHECK(MPI_Comm_split(merged, 0, rank, &whole) == MPI_SUCCESS, "no communicator");
  MPI_Comm_rank(whole, &now);
  MPI_Comm_size(whole, &size);
  CHECK(now == rank, "rank %d is now %d", rank, now);
  MPI_Barrier(whole);
  if (now == 0) printf("%d ranks again\n", size);
  MPI_Comm_free(&whole);
  MPI_Comm_free(&merged);
}

int main(int argc, char** argv) {
  int rank, size, living, i, flag, fails;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm parent, shrunk, inter;
  MPI_Group all, left, lost;
  MPI_Init(&argc, &argv);
  fails = atoi(argv[1]);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Recv(&rank, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    restore(parent, MPI_COMM_WORLD, rank);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (rank == fails) raise(SIGKILL);
  CHECK(MPI_Barrier(world) == MPIX_ERR_PROC_FAILED, "the barrier does not fail");
  CHECK(MPIX_Comm_shrink(world, &shrunk) == MPI_SUCCESS, "it cannot be shrunk");
  MPI_Comm_size(shrunk, &living);
  flag = MPI_Comm_spawn(argv[0], &argv[1], size - living, MPI_INFO_NULL, 0, shrunk, &inter,
                        MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
  CHECK(MPIX_Comm_agree(shrunk, &flag) == MPI_SUCCESS && flag, "nothing was started");
  MPI_Comm_group(world, &all);
  MPI_Comm_group(shrunk, &left);
  MPI_Group_difference(all, left, &lost);
  MPI_Comm_rank(shrunk, &flag);
  for (i = 0; flag == 0 && i < size - living; ++i) {
    int former;
    MPI_Group_translate_ranks(lost, 1, &i, all, &former);
    MPI_Send(&former, 1, MPI_INT, i, 1, inter);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&left);
  MPI_Group_free(&lost);
  restore(inter, shrunk, rank);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_free(&shrunk);
  MPI_Finalize();
  return 0;
}
