/* Messages of a device's memory that end early: their peer has failed, or their communicator is
 * revoked. One rank in each of three clusters; that of the second fails. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

/* device_memory.h */
void* gpu_alloc(size_t bytes);
void gpu_write(void* to, const void* from, size_t bytes);
void gpu_read(void* to, const void* from, size_t bytes);

enum { LONG = 2000003 };

static int* on_device(int value) {
  int* const host = malloc(LONG * sizeof(int));
  int* const at = gpu_alloc(LONG * sizeof(int));
  for (int i = 0; i < LONG; ++i) host[i] = value + i;
  gpu_write(at, host, LONG * sizeof(int));
  free(host);
  return at;
}

int main(int argc, char** argv) {
  int rank, word = 0;
  MPI_Request request[2];
  MPI_Comm going_on, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int* const out = on_device(rank);
  int* const in = on_device(-LONG);

  if (rank == 1) { /* dies while both are under way: rank 0 waits for all of what comes */
    MPI_Irecv(in, LONG, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, LONG, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (rank == 0) {
    int* const never = on_device(0);
    MPI_Irecv(in, LONG, MPI_INT, 1, 2, MPI_COMM_WORLD, &request[0]);
    MPI_Issend(never, LONG, MPI_INT, 1, 4, MPI_COMM_WORLD, &request[1]);
    MPI_Send(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    const int sent = MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    CHECK(class_of(sent) == ISTHMUS_ERR_PROC_FAILED, "the send ended with %d", sent);
    const int come = MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK(come == MPI_SUCCESS || class_of(come) == ISTHMUS_ERR_PROC_FAILED,
          "the receive ended with %d", come);
    MPI_Isend(out, LONG, MPI_INT, 2, 5, other, &request[0]);
    MPI_Irecv(in, LONG, MPI_INT, 2, 5, other, &request[1]);
    isthmus_comm_revoke(other);
    for (int i = 0; i < 2; ++i) {
      const int code = MPI_Wait(&request[i], MPI_STATUS_IGNORE);
      const int fine = i == 0 && code == MPI_SUCCESS;
      CHECK(fine || class_of(code) == ISTHMUS_ERR_REVOKED, "a request ended with %d", code);
    }
  }
  CHECK(isthmus_comm_shrink(MPI_COMM_WORLD, &going_on) == MPI_SUCCESS, "cannot shrink");
  int size = 0;
  MPI_Comm_rank(going_on, &rank);
  MPI_Comm_size(going_on, &size);
  CHECK(size == 2, "%d ranks go on", size);
  MPI_Sendrecv(out, LONG, MPI_INT, 1 - rank, 6, in, LONG, MPI_INT, 1 - rank, 6, going_on,
               MPI_STATUS_IGNORE);
  int last = 0;
  gpu_read(&last, in + LONG - 1, sizeof last);
  CHECK(last == (rank == 0 ? 2 : 0) + LONG - 1, "the last element is %d", last);
  printf("goes on\n");
  MPI_Comm_free(&going_on);
  MPI_Finalize();
  return 0;
}
