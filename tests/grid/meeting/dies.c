/* Spawns itself; the children end as the argument says. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void as_child(const char* how, MPI_Comm parent) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(how, "exits") == 0) _exit(4);
  if (strcmp(how, "aborts") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(how, "outlives") == 0) {
    MPI_Comm_disconnect(&parent);
    sleep(1);
    if (rank == 0) printf("the children are alone\n");
    return;
  }
  if (strcmp(how, "ends") == 0) return;
  int never;
  MPI_Recv(&never, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    as_child(argv[1], parent);
    MPI_Finalize();
    return 0;
  }
  char* arguments[] = {argv[1], NULL};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cluster", "west");
  MPI_Comm_spawn(argv[0], arguments, 2, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  if (strcmp(argv[1], "outlives") == 0) MPI_Comm_disconnect(&children);
  if (strcmp(argv[1], "exits") == 0 || strcmp(argv[1], "aborts") == 0) {
    int never;
    MPI_Recv(&never, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
