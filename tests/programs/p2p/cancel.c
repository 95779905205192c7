/* Cancelled receives of every kind take no message. ranks: 2 4 */
#include "p2p.h"

static void cancel_one(int source, int persistent) {
  int data = -1, flag = 0;
  MPI_Request request;
  MPI_Status status;
  if (persistent) {
    MPI_Recv_init(&data, 1, MPI_INT, source, 3, WORLD, &request);
    MPI_Start(&request);
  } else {
    MPI_Irecv(&data, 1, MPI_INT, source, 3, WORLD, &request);
  }
  MPI_Test(&request, &flag, &status);
  CHECK(!flag, "a receive completed before anything was sent");
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag, "the cancelled receive from %d does not say so", source);
  if (persistent) MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL, "the request of a cancelled receive is not null");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int sender = 1; sender < size; ++sender) {
    if (rank == 0) {
      for (int persistent = 0; persistent < 2; ++persistent) {
        cancel_one(sender, persistent);
        cancel_one(MPI_ANY_SOURCE, persistent);
      }
      /* The one behind a cancelled wildcard gets the message. */
      int first = -1, second = -1, go = 0;
      MPI_Request requests[2];
      MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 3, WORLD, &requests[0]);
      MPI_Irecv(&second, 1, MPI_INT, sender, 3, WORLD, &requests[1]);
      MPI_Cancel(&requests[0]);
      MPI_Send(&go, 1, MPI_INT, sender, 4, WORLD);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      CHECK(first == -1 && second == 42, "the cancelled wildcard got %d, the receive behind it %d",
            first, second);
      /* Too late: it has matched, so it completes. */
      MPI_Status status;
      MPI_Irecv(&first, 1, MPI_INT, sender, 5, WORLD, &requests[0]);
      MPI_Send(&go, 1, MPI_INT, sender, 4, WORLD);
      MPI_Recv(&second, 1, MPI_INT, sender, 6, WORLD, MPI_STATUS_IGNORE);
      int cancelled = 0;
      MPI_Cancel(&requests[0]);
      MPI_Wait(&requests[0], &status);
      MPI_Test_cancelled(&status, &cancelled);
      CHECK(!cancelled && first == 43, "a receive that had its message: cancelled %d, got %d",
            cancelled, first);
    } else if (rank == sender) {
      int go, value = 42;
      MPI_Recv(&go, 1, MPI_INT, 0, 4, WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, 0, 3, WORLD);
      MPI_Recv(&go, 1, MPI_INT, 0, 4, WORLD, MPI_STATUS_IGNORE);
      value = 43;
      MPI_Send(&value, 1, MPI_INT, 0, 5, WORLD);
      MPI_Send(&value, 1, MPI_INT, 0, 6, WORLD);
    }
    all_here(1);
  }
  return finish("cancel");
}
