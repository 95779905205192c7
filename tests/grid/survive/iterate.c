/* Checks the sums of allreduces while clusters fail. The survivors revoke, shrink and go on.
   iterate STEPS CLUSTERS STEP HOW [LATER]: all ranks of the clusters end in that step, by `signal`
   or `status`; or the first rank alone, by `one`. The cluster LATER ends while the others shrink.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static int rank;
static const char* later = "";

/* Whether this rank's cluster is one of these. */
static int among(const char* names) {
  return strstr(names, isthmus_cluster_name(isthmus_cluster())) != NULL;
}

static void end_here(const char* how) {
  if (!strcmp(how, "one") && rank > 0 && isthmus_cluster_of(rank - 1) == isthmus_cluster()) return;
  if (!strcmp(how, "status")) _exit(3);
  raise(SIGKILL);
}

static void repair(MPI_Comm* comm, int* step) {
  for (;;) {
    MPI_Comm smaller = MPI_COMM_NULL;
    int flag = -1, revoked = 0, first = *step;
    CHECK(isthmus_comm_revoke(*comm) == MPI_SUCCESS, "it cannot be revoked");
    CHECK(isthmus_comm_is_revoked(*comm, &revoked) == MPI_SUCCESS && revoked, "it is not revoked");
    if (among(later)) raise(SIGKILL);
    CHECK(isthmus_comm_shrink(*comm, &smaller) == MPI_SUCCESS, "it cannot be shrunk");
    MPI_Comm_free(comm);
    *comm = smaller;
    if (MPI_Allreduce(&first, step, 1, MPI_INT, MPI_MIN, *comm) == MPI_SUCCESS) {
      CHECK(isthmus_comm_agree(*comm, &flag) == MPI_SUCCESS, "nobody has failed in the new one");
      CHECK(flag == -1, "the flags are wrong");
      return;
    }
    *step = first;
  }
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[1]);
  const int last = argc > 3 ? atoi(argv[3]) : -1;
  int size, step = 0, before;
  MPI_Comm comm;
  if (argc > 5) later = argv[5];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm, &before);
  while (step < steps) {
    int one = 1, sum = 0, class = 0;
    MPI_Comm_size(comm, &size);
    if (step == last && among(argv[2])) end_here(argv[4]);
    const int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (code == MPI_SUCCESS) {
      CHECK(sum == size, "the sum is %d of %d", sum, size);
      ++step;
      continue;
    }
    MPI_Error_class(code, &class);
    CHECK(class == ISTHMUS_ERR_PROC_FAILED || class == ISTHMUS_ERR_REVOKED, "class %d", class);
    repair(&comm, &step);
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) printf("%d of %d ranks, %d steps\n", size, before, step);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
