/* Agreements one after the other while a cluster fails among them. No survivor waits for ever, and
   all get the same flags and the same result. agree CLUSTER */
#include <signal.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { ROUNDS = 60, FAILS_IN = 20 };

int main(int argc, char** argv) {
  int rank, size, round, failures = 0;
  int mine[2 * ROUNDS], *all;
  MPI_Comm comm, left;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  for (round = 0; round < ROUNDS; ++round) {
    const int bit = 1 << (rank + round) % 31;
    int flag = ~bit, class = MPI_SUCCESS, code;
    MPI_Request request;
    if (round == FAILS_IN && !strcmp(isthmus_cluster_name(isthmus_cluster()), argv[1])) {
      raise(SIGKILL);
    }
    if (round % 2) {
      code = isthmus_comm_iagree(comm, &flag, &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      code = isthmus_comm_agree(comm, &flag);
    }
    if (code != MPI_SUCCESS) {
      MPI_Error_class(code, &class);
      CHECK(class == ISTHMUS_ERR_PROC_FAILED, "class %d", class);
      if (++failures == 3) CHECK(isthmus_comm_failure_ack(comm) == MPI_SUCCESS, "no acknowledging");
    }
    CHECK((flag & bit) == 0, "round %d: a flag is lost", round);
    mine[2 * round] = flag;
    mine[2 * round + 1] = class == MPI_SUCCESS;
  }
  CHECK(failures == 3, "%d failures", failures);
  CHECK(isthmus_comm_shrink(comm, &left) == MPI_SUCCESS, "it cannot be shrunk");
  MPI_Comm_size(left, &size);
  all = malloc((size_t)size * sizeof mine);
  MPI_Allgather(mine, 2 * ROUNDS, MPI_INT, all, 2 * ROUNDS, MPI_INT, left);
  for (int other = 0; other < size; ++other) {
    CHECK(!memcmp(all + 2 * ROUNDS * other, mine, sizeof mine), "results differ from rank %d's",
          other);
  }
  MPI_Comm_rank(left, &rank);
  if (rank == 0) printf("%d ranks agree\n", size);
  MPI_Finalize();
  return 0;
}
