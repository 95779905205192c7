/* making MODE RANK: RANK is killed while all others are about to wait for it, in a call that makes
 * a communicator, or on what such a call has made. */
#include "last_call.h"

static MPI_Comm half(void) {
  MPI_Comm side;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &side);
  return side;
}

static MPI_Comm between(MPI_Comm side) {
  MPI_Comm inter;
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
  return inter;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  if (!strcmp(argv[1], "intercomm-create")) {
    MPI_Comm side = half();
    last_call();
    between(side);
  }
  if (!strcmp(argv[1], "inter-collective")) {
    MPI_Comm inter = between(half());
    int value = 1, sum = 0;
    last_call();
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
  }
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  if (!strcmp(argv[1], "create-from-group")) {
    MPI_Group world;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    last_call();
    MPI_Comm_create_from_group(world, "doomed", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  }
  if (!strcmp(argv[1], "precv")) {
    MPI_Request request;
    int data[4];
    const int from = rank == chosen ? (rank + 1) % size : chosen;
    MPI_Precv_init(data, 2, 2, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    last_call();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
#endif
  printf("rank %d: nothing waited\n", rank);
  MPI_Finalize();
  return 0;
}
