/* A rank revokes a communicator and frees it at once, while another of its cluster has sent it a
 * large message there, and waits for one. Both end. The handler of this communicator hears of that,
 * and not another one's, which would end the run. Then all go on. Again and again: no communicator
 * gets the messages of an earlier one. */
#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { MANY = 1 << 20, ROUNDS = 3 };

static MPI_Comm comm;
static int calls;

static void hear(MPI_Comm* in, int* code, ...) {
  CHECK(*in == comm, "the handler gets another communicator");
  CHECK(*code == ISTHMUS_ERR_REVOKED, "the handler gets code %d", *code);
  ++calls;
}

int main(int argc, char** argv) {
  static char out[MANY];
  int rank, size;
  MPI_Errhandler mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(hear, &mine);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm shrunk;
    MPI_Request requests[3];
    int heard = -1, never = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, mine);
    /* A neighbour's message has this round's number. */
    CHECK(MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 1, &heard, 1, MPI_INT,
                       (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "round %d: no neighbour", round);
    CHECK(heard == round, "round %d: a message of round %d", round, heard);
    if (rank == 1) {
      MPI_Isend(out, MANY, MPI_CHAR, 0, 2, comm, &requests[0]);
      MPI_Isend(&round, 1, MPI_INT, 0, 1, comm, &requests[1]);
      MPI_Irecv(&never, 1, MPI_INT, 0, 3, comm, &requests[2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      isthmus_comm_revoke(comm);
      MPI_Comm_free(&comm);
      CHECK(comm == MPI_COMM_NULL, "it is not freed");
    }
    if (rank == 1) {
      CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_ERR_IN_STATUS, "no error");
      CHECK(calls == round + 1, "%d calls of the handler", calls);
    }
    CHECK(isthmus_comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS, "it cannot be shrunk");
    MPI_Comm_free(&shrunk);
    if (rank != 0) MPI_Comm_free(&comm);
  }
  if (rank == 0) printf("%d ranks go on\n", size);
  MPI_Finalize();
  return 0;
}
