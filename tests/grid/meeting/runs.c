/* One of two runs that meet: `runs accept FILE TIMES`, whose port's name is in the file,
   `runs connect FILE TIMES`; `runs serve NAME` and `runs visit NAME` by a published name; `runs
   join FILE` on either side, which share the socket of that name. */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../programs/comm/check.h"
#include "port_file.h"

enum { kMany = 300000 };
static int brief; /* they meet, and say nothing */

static void talk(MPI_Comm inter, int first) {
  int rank, size, remote, whole_size, whole_rank, sum;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Request* sends = malloc(sizeof *sends * (size_t)remote);
  for (int r = 0; r < remote; ++r) MPI_Isend(&rank, 1, MPI_INT, r, 3, inter, &sends[r]);
  for (int r = 0; r < remote; ++r) {
    int said = -1;
    MPI_Recv(&said, 1, MPI_INT, r, 3, inter, MPI_STATUS_IGNORE);
    CHECK(said == r, "rank %d of the other side is %d", r, said);
  }
  MPI_Waitall(remote, sends, MPI_STATUSES_IGNORE);
  free(sends);

  int* many = malloc(sizeof(int) * kMany);
  for (int i = 0; i < kMany; ++i) many[i] = first ? i : -1;
  if (rank == 0 && first) MPI_Send(many, kMany, MPI_INT, remote - 1, 4, inter);
  if (rank == size - 1 && !first) {
    MPI_Recv(many, kMany, MPI_INT, MPI_ANY_SOURCE, 4, inter, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMany; ++i) CHECK(many[i] == i, "number %d is %d", i, many[i]);
  }
  free(many);

  MPI_Comm copy, whole, halves;
  MPI_Comm_dup(inter, &copy);
  MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, copy);
  CHECK(sum == remote * remote, "the sizes of the other side sum up to %d", sum);
  MPI_Intercomm_merge(copy, !first, &whole);
  MPI_Comm_free(&copy);
  MPI_Comm_size(whole, &whole_size);
  MPI_Comm_rank(whole, &whole_rank);
  CHECK(whole_size == size + remote, "both sides have %d members", whole_size);
  CHECK(whole_rank == (first ? rank : remote + rank), "rank %d of the whole", whole_rank);
  MPI_Allreduce(&whole_rank, &sum, 1, MPI_INT, MPI_SUM, whole);
  CHECK(sum == whole_size * (whole_size - 1) / 2, "the ranks sum up to %d", sum);
  MPI_Comm_split(whole, whole_rank % 2, whole_rank, &halves);
  sum = whole_rank;
  MPI_Bcast(&sum, 1, MPI_INT, 0, halves);
  CHECK(sum == whole_rank % 2, "the half of %d begins with %d", whole_rank, sum);
  MPI_Comm_free(&halves);
  MPI_Comm_free(&whole);
}

static void meet(const char* port, int accepts, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm inter;
    if (accepts)
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (!brief) talk(inter, accepts);
    MPI_Comm_disconnect(&inter);
  }
}

static void visit(const char* name, char* port) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of what has no object */
  while (MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(100000);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static int shared_socket(const char* path) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  strncpy(at.sun_path, path, sizeof at.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr*)&at, sizeof at) == 0 && listen(fd, 1) == 0) {
    const int found = accept(fd, NULL, NULL);
    close(fd);
    return found;
  }
  while (connect(fd, (struct sockaddr*)&at, sizeof at) != 0) usleep(20000);
  return fd;
}

static void join(const char* path) {
  const int fd = shared_socket(path);
  MPI_Comm inter;
  MPI_Comm_join(fd, &inter);
  CHECK(inter != MPI_COMM_NULL, "those who share a socket are not joined");
  int mine = getpid(), theirs = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT, 0, 1, &theirs, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
  CHECK(theirs > 0 && theirs != mine, "the other one is %d", theirs);
  MPI_Comm_disconnect(&inter);
  close(fd);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const char *what = argv[1], *where = argv[2];
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  brief = argc > 4;
  char port[kName] = "";
  if (strcmp(what, "join") == 0) {
    if (world_rank == 0) join(where);
  } else if (strcmp(what, "accept") == 0) {
    if (world_rank == 0) open_port(where, port);
    meet(port, 1, times);
    if (world_rank == 0) MPI_Close_port(port);
  } else if (strcmp(what, "connect") == 0) {
    if (world_rank == 0) read_port(where, port);
    meet(port, 0, times);
  } else if (strcmp(what, "serve") == 0) {
    if (world_rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    if (world_rank == 0) MPI_Publish_name(where, MPI_INFO_NULL, port);
    meet(port, 1, times);
    if (world_rank == 0) MPI_Unpublish_name(where, MPI_INFO_NULL, port);
  } else if (strcmp(what, "visit") == 0) {
    if (world_rank == 0) visit(where, port);
    meet(port, 0, times);
  }
  MPI_Finalize();
  if (world_rank == 0) printf("%s: passed\n", what);
  return 0;
}
