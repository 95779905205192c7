/* An iteration that goes on when clusters fail. Each rank adds 1 to a sum over all ranks, again and
 * again. When an operation fails, the living ranks meet in a smaller communicator. They agree on
 * the last iteration that all of them have finished, and go on from there.
 *
 *   isthmus run --survive -g grid.toml -n 8 ./isthmus_survivor 1000
 */
#include <isthmus.h>
#include <stdio.h>
#include <stdlib.h>

/* Leaves the communicator to the living. On return, all of them have the new one and the same step.
 */
static void repair(MPI_Comm* comm, int* step) {
  MPI_Comm smaller;
  isthmus_comm_revoke(*comm); /* others may still wait in it for a living rank */
  if (isthmus_comm_shrink(*comm, &smaller) != MPI_SUCCESS) MPI_Abort(*comm, 1);
  MPI_Comm_free(comm);
  *comm = smaller;
  int first = *step;
  if (MPI_Allreduce(&first, step, 1, MPI_INT, MPI_MIN, *comm) != MPI_SUCCESS) {
    *step = first;
    repair(comm, step); /* another cluster has failed meanwhile */
  }
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 1000;
  int rank, size, step = 0;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  while (step < steps) {
    int one = 1, sum = 0;
    MPI_Comm_size(comm, &size);
    const int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (code != MPI_SUCCESS) {
      int class;
      MPI_Error_class(code, &class);
      if (class != ISTHMUS_ERR_PROC_FAILED && class != ISTHMUS_ERR_REVOKED) MPI_Abort(comm, 1);
      repair(&comm, &step);
    } else if (sum != size) {
      MPI_Abort(comm, 2);
    } else {
      ++step;
    }
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) printf("%d steps; %d ranks are left\n", step, size);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
