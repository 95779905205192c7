/* New processes end before they have connected to their parents, or soon after. stillborn
 * MICROSECONDS...: one spawn for each, in the clusters `south` and `west`; the processes in `west`
 * are killed after that time. Each spawn makes an intercommunicator at all parents, or raises an
 * error at all, and the parents go on. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static void end_now(int signal) {
  (void)signal;
  raise(SIGKILL);
}

static void end_in(int microseconds) {
  const struct itimerval when = {{0, 0}, {microseconds / 1000000, 1 + microseconds % 1000000}};
  signal(SIGALRM, end_now);
  setitimer(ITIMER_REAL, &when, NULL);
}

int main(int argc, char** argv) {
  const char* const cluster = getenv("ISTHMUS_CLUSTER");
  if (argc > 2 && !strcmp(argv[1], "child") && !strncmp(cluster, "west", 4)) end_in(atoi(argv[2]));
  MPI_Init(&argc, &argv);
  if (argc > 1 && !strcmp(argv[1], "child")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Finalize();
    return 0;
  }
  int size, rank, made = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (char** time = argv + 1; *time != NULL; ++time) {
    char* words[] = {"child", *time, NULL};
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Info info;
    int class = 0, sum = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cluster", "south,west");
    const int code =
        MPI_Comm_spawn(argv[0], words, 4, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS) {
      MPI_Error_class(code, &class);
      CHECK(class == MPI_ERR_SPAWN || class == ISTHMUS_ERR_PROC_FAILED, "class %d", class);
    }
    made = code == MPI_SUCCESS;
    CHECK(made == (children != MPI_COMM_NULL), "an error, and a communicator");
    CHECK(MPI_Allreduce(&made, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
          "the parents have failed");
    CHECK(sum == 0 || sum == size, "%d of %d have an intercommunicator", sum, size);
    if (made) MPI_Comm_free(&children);
  }
  if (rank == 0) printf("%d parents go on\n", size);
  MPI_Finalize();
  return 0;
}
