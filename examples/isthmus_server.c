/* A server that programs of other runs connect to, one after the other. The first command serves
 * two clients. A client may start before or after the server, with any MPI library:
 *
 *     isthmus run -n 3 ./server ocean 2
 *     isthmus run -n 2 ./client ocean
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void serve(const char* port, int rank) {
  MPI_Comm client;
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
  int ranks;
  double asked, answer;
  MPI_Comm_remote_size(client, &ranks);
  if (rank == 0) {
    MPI_Recv(&asked, 1, MPI_DOUBLE, 0, 0, client, MPI_STATUS_IGNORE);
    answer = asked / 2;
    MPI_Send(&answer, 1, MPI_DOUBLE, 0, 0, client);
    printf("server: answered a client of %d ranks\n", ranks);
    fflush(stdout);
  }
  MPI_Comm_disconnect(&client);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* name = argc > 1 ? argv[1] : "ocean";
  const int clients = argc > 2 ? atoi(argv[2]) : 1;
  char port[MPI_MAX_PORT_NAME] = ""; /* the root's is what counts */
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(name, MPI_INFO_NULL, port);
    printf("server: published %s\n", name);
    fflush(stdout);
  }
  for (int i = 0; i < clients; ++i) serve(port, rank);
  if (rank == 0) {
    MPI_Unpublish_name(name, MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
  MPI_Finalize();
  return 0;
}
