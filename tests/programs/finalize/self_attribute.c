/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first; their callbacks may still communicate
 * over the whole world. */
#include <mpi.h>
#include <stdio.h>

static int at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  int rank, size, sum = -1, finalized = 1;
  (void)comm, (void)keyval, (void)value, (void)extra;
  MPI_Finalized(&finalized);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (finalized || sum != size * (size - 1) / 2) {
    printf("rank %d: sum %d, finalized %d\n", rank, sum, finalized);
    return MPI_ERR_OTHER;
  }
  if (rank == 0) printf("ok\n");
  fflush(stdout);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int keyval;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  return MPI_Finalize() != MPI_SUCCESS;
}
