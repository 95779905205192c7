/* MPI_Comm_join: two processes of any clusters that share a socket.
   ranks: 2 3 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../checking.h"

static int connected(int rank, int other) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (rank != 0) {
    MPI_Recv(&at.sin_port, sizeof at.sin_port, MPI_BYTE, other, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(connect(fd, (struct sockaddr*)&at, size) == 0, "connect");
    return fd;
  }
  CHECK(bind(fd, (struct sockaddr*)&at, size) == 0 && listen(fd, 1) == 0, "listen");
  getsockname(fd, (struct sockaddr*)&at, &size);
  MPI_Send(&at.sin_port, sizeof at.sin_port, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  const int accepted = accept(fd, NULL, NULL);
  close(fd);
  return accepted;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* Joins the last rank, which is in the other cluster, and then the next, which is in this one. */
  for (int other = size - 1; other > 0; --other) {
    if (rank != 0 && rank != other) continue;
    const int fd = connected(rank, rank == 0 ? other : 0);
    MPI_Comm inter;
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL, "join");
    close(fd);
    int said = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &said, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK(said == (rank == 0 ? other : 0), "the other is %d", said);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Finalize();
  return 0;
}
