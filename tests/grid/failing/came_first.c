/* A broadcast has come whole when its root fails, but the program has not looked yet. It ends well.
 * One rank in each cluster. came_first CLUSTER: it fails. */
#include <signal.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

int main(int argc, char** argv) {
  int rank, size, root = 0, mine, word = 0, data = 0, failed = 0;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mine = strcmp(isthmus_cluster_name(isthmus_cluster()), argv[1]) == 0 ? rank : 0;
  MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == root) {
    data = 4711;
    MPI_Ibcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* Behind the broadcast. It ends when it is matched, which takes no call of the receiver. */
    for (int other = 0; other < size; ++other) {
      if (other != root) MPI_Ssend(&word, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    }
    raise(SIGKILL);
  }
  MPI_Irecv(&word, 1, MPI_INT, root, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Ibcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[0]);
  while (failed == 0) {
    MPI_Group group;
    isthmus_comm_get_failed(MPI_COMM_WORLD, &group);
    MPI_Group_size(group, &failed);
    if (failed > 0) MPI_Group_free(&group);
  }
  CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS, "the broadcast has failed");
  CHECK(data == 4711, "the data is %d", data);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  printf("it came\n");
  MPI_Finalize();
  return 0;
}
