/* Failures between two runs: `runs_fail hold FILE UNTIL` has a port at which nobody accepts until
   that other file is there, `runs_fail wrong FILE` tries ports that are none; `runs_fail wait FILE`
   accepts and waits for what never comes, from `runs_fail die FILE`; `runs_fail leave FILE` fails
   after it has disconnected. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../programs/comm/check.h"
#include "port_file.h"

static void hold(const char* file, const char* until) {
  char port[kName];
  if (world_rank == 0) {
    open_port(file, port);
    while (access(until, F_OK) != 0) usleep(20000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_port(const char* port, MPI_Info info, const char* what) {
  MPI_Comm inter;
  char said[MPI_MAX_ERROR_STRING];
  int class, length;
  const int code = MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter);
  MPI_Error_class(code, &class);
  MPI_Error_string(code, said, &length);
  CHECK(class == MPI_ERR_PORT, "%s: class %d: %s", what, class, said);
  if (world_rank == 0) printf("%s: %s\n", what, said);
}

/* A socket whose other end is closed, and a descriptor that is not a socket. */
static void expect_dead(void) {
  MPI_Comm inter;
  char said[MPI_MAX_ERROR_STRING];
  int ends[2], length;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && close(ends[1]) == 0, "a dead socket");
  const int fds[] = {ends[0], 987};
  for (int i = 0; i < 2; ++i) {
    const int code = MPI_Comm_join(fds[i], &inter);
    CHECK(code != MPI_SUCCESS, "joined over descriptor %d", fds[i]);
    MPI_Error_string(code, said, &length);
    printf("%s: %s\n", i == 0 ? "dead" : "unknown", said);
  }
}

static void wrong(const char* file) {
  char port[kName] = "";
  MPI_Info info;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (world_rank == 0) read_port(file, port);
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "0.5");
  expect_port(port, info, "nobody");
  MPI_Info_free(&info);
  expect_port("isthmus:of/no/run", MPI_INFO_NULL, "nonsense");
  const size_t last = strlen(port);
  if (last > 0) port[last - 1] = port[last - 1] == '0' ? '1' : '0';
  expect_port(port, MPI_INFO_NULL, "secret");
  expect_port("isthmus:isthmus-0/1/0123456789abcdef0123456789abcdef", MPI_INFO_NULL, "gone");
  if (world_rank == 0) expect_dead();
}

static MPI_Comm meet(const char* file, int accepts) {
  char port[kName] = "";
  MPI_Comm inter;
  if (world_rank == 0) (accepts ? open_port : read_port)(file, port);
  (accepts ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  return inter;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const char *what = argv[1], *file = argv[2];
  if (strcmp(what, "hold") == 0) {
    hold(file, argv[3]);
  } else if (strcmp(what, "wrong") == 0) {
    wrong(file);
  } else {
    MPI_Comm inter = meet(file, strcmp(what, "wait") == 0);
    int never;
    if (strcmp(what, "leave") == 0) MPI_Comm_disconnect(&inter);
    if (strcmp(what, "wait") != 0) _exit(3);
    MPI_Recv(&never, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
