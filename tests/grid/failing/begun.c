/* Calls that only start something, on a revoked communicator: what completes it has the error. */
#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static void expect_revoked(int begun, MPI_Request* request, const char* what) {
  MPI_Status status;
  CHECK(begun == MPI_SUCCESS, "%s gives %d", what, begun);
  const int code = MPI_Wait(request, &status);
  CHECK(code == ISTHMUS_ERR_REVOKED, "the wait for %s gives %d", what, code);
}
#define EXPECT_REVOKED(call) expect_revoked(call, &request, #call)

static void with(MPI_Comm comm, int peer) {
  int word = 0, other = 0;
  MPI_Request request;
  EXPECT_REVOKED(MPI_Isend(&word, 1, MPI_INT, peer, 1, comm, &request));
  EXPECT_REVOKED(MPI_Issend(&word, 1, MPI_INT, peer, 1, comm, &request));
  EXPECT_REVOKED(MPI_Ibsend(&word, 1, MPI_INT, peer, 1, comm, &request));
  EXPECT_REVOKED(MPI_Irecv(&word, 1, MPI_INT, peer, 1, comm, &request));
#if MPI_VERSION >= 4
  EXPECT_REVOKED(MPI_Isendrecv(&word, 1, MPI_INT, peer, 1, &other, 1, MPI_INT, peer, 1, comm,
                               &request));
  EXPECT_REVOKED(MPI_Isendrecv_replace(&word, 1, MPI_INT, peer, 1, peer, 1, comm, &request));
#endif
  (void)other;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Request persistent[4];
  int rank, size, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int near = rank ^ 1, far = (rank + size / 2) % size;
  isthmus_comm_revoke(comm);
  MPI_Ssend_init(&word, 1, MPI_INT, near, 1, comm, &persistent[0]);
  MPI_Ssend_init(&word, 1, MPI_INT, far, 1, comm, &persistent[1]);
  MPI_Recv_init(&word, 1, MPI_INT, near, 1, comm, &persistent[2]);
  MPI_Recv_init(&word, 1, MPI_INT, far, 1, comm, &persistent[3]);
  with(comm, near);
  with(comm, far);
  with(comm, MPI_PROC_NULL);
  for (int i = 0; i < 4; ++i) {
    expect_revoked(MPI_Start(&persistent[i]), &persistent[i], "MPI_Start");
    MPI_Request_free(&persistent[i]);
  }
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d go on\n", size);
  MPI_Finalize();
  return 0;
}
