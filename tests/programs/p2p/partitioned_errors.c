/* Wrong calls of partitioned communication between clusters return errors; inactive requests.
   ranks: 2 */
#include "partitioned.h"

#if HAS_PARTITIONED
static void expect(int code, int wanted, const char* what) {
  int class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  CHECK(class == wanted, "%s: error class %d, expected %d", what, class, wanted);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (all_have_it()) {
    int data[8] = {0}, flag = 0;
    const int peer = 1 - rank;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect(MPI_Psend_init(data, 4, 2, MPI_INT, 2, 0, comm, MPI_INFO_NULL, &request), MPI_ERR_RANK,
           "a rank that does not exist");
    expect(MPI_Psend_init(data, -1, 2, MPI_INT, peer, 0, comm, MPI_INFO_NULL, &request),
           MPI_ERR_ARG, "less than no partitions");
    expect(MPI_Psend_init(data, 4, 2, MPI_INT, peer, -5, comm, MPI_INFO_NULL, &request),
           MPI_ERR_TAG, "a wrong tag");
    if (rank == 0) {
      MPI_Psend_init(data, 4, 2, MPI_INT, peer, 0, comm, MPI_INFO_NULL, &request);
      expect(MPI_Pready(0, request), MPI_ERR_REQUEST, "an inactive request");
      MPI_Wait(&request, &status); /* returns at once */
      MPI_Start(&request);
      expect(MPI_Start(&request), MPI_ERR_REQUEST, "an active request started");
      expect(MPI_Pready(4, request), MPI_ERR_ARG, "a partition that does not exist");
      expect(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST, "MPI_Parrived of a send");
      MPI_Pready(1, request);
      expect(MPI_Pready(1, request), MPI_ERR_ARG, "a partition marked twice");
      MPI_Pready(0, request);
      MPI_Pready_range(2, 3, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Precv_init(data, 3, 2, MPI_INT, peer, 0, comm, MPI_INFO_NULL, &request); /* too short */
      MPI_Parrived(request, 0, &flag);
      CHECK(flag, "partitions of an inactive request have arrived");
      MPI_Start(&request);
      expect(MPI_Pready(0, request), MPI_ERR_REQUEST, "a receive marked as ready");
      expect(MPI_Parrived(request, 3, &flag), MPI_ERR_ARG, "a partition that does not exist");
      expect(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE, "more than there is room for");
    }
    MPI_Request_free(&request);
    /* Freed before it has been used; the next of this tag meets the peer's next. */
    int got = -1;
    for (int turn = 0; turn < 2; ++turn) {
      data[0] = 40 + turn;
      if (rank == 0) {
        MPI_Psend_init(data, 1, 1, MPI_INT, peer, 1, comm, MPI_INFO_NULL, &request);
      } else {
        MPI_Precv_init(&got, 1, 1, MPI_INT, peer, 1, comm, MPI_INFO_NULL, &request);
      }
      if (turn == 1) {
        MPI_Start(&request);
        if (rank == 0) MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(rank == 0 || got == 41, "got %d", got);
      }
      MPI_Request_free(&request);
    }
    MPI_Comm_free(&comm);
  }
  return finish("partitioned errors");
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  all_have_it();
  return finish("partitioned errors");
}
#endif
