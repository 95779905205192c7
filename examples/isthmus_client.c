/* A client of isthmus_server.c. It waits for the server, for at most the given number of seconds:
 *
 *     isthmus run -n 2 ./client ocean 60
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* name = argc > 1 ? argv[1] : "ocean";
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Info wait;
    MPI_Info_create(&wait);
    if (argc > 2) MPI_Info_set(wait, "timeout", argv[2]); /* without it: not at all */
    printf("client: looks for %s\n", name);
    fflush(stdout);
    MPI_Lookup_name(name, wait, port);
    MPI_Info_free(&wait);
  }
  MPI_Comm server;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
  if (rank == 0) {
    double number = 42;
    MPI_Send(&number, 1, MPI_DOUBLE, 0, 0, server);
    MPI_Recv(&number, 1, MPI_DOUBLE, 0, 0, server, MPI_STATUS_IGNORE);
    printf("client: half of 42 is %g\n", number);
  }
  MPI_Comm_disconnect(&server);
  MPI_Finalize();
  return 0;
}
