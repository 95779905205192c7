/* Truncation in every form of receiving, and bad arguments: the right class, through the error
   handler, and the communicator works on. ranks: 2 4 */
#include "p2p.h"

static int calls;
static void count_call(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

static void expect(int code, int error_class, const char* what) {
  CHECK(class_of(code) == error_class, "%s: error class %d, expected %d", what, class_of(code),
        error_class);
}

static void truncated(int sender) {
  enum { kForms = 6 };
  if (rank == sender) {
    int data[100], go;
    for (int form = 0; form < kForms; ++form) {
      MPI_Recv(&go, 1, MPI_INT, 0, 2, WORLD, MPI_STATUS_IGNORE);
      fill(data, 100, sender, 0, form);
      MPI_Send(data, 100, MPI_INT, 0, 1, WORLD);
      MPI_Send(&form, 1, MPI_INT, 0, 3, WORLD);
    }
  }
  if (rank != 0) return;
  for (int form = 0; form < kForms; ++form) {
    int data[11] = {0}, after = -1, code = MPI_SUCCESS;
    data[10] = -5;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    const int source = form % 2 == 0 ? sender : MPI_ANY_SOURCE;
    if (form >= 2) MPI_Irecv(data, 10, MPI_INT, source, 1, WORLD, &requests[0]);
    if (form >= 4) MPI_Irecv(&after, 1, MPI_INT, sender, 3, WORLD, &requests[1]);
    MPI_Send(&form, 1, MPI_INT, sender, 2, WORLD);
    if (form < 2) {
      expect(MPI_Recv(data, 10, MPI_INT, source, 1, WORLD, &statuses[0]), MPI_ERR_TRUNCATE,
             "MPI_Recv");
    } else if (form < 4) {
      expect(MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_TRUNCATE, "MPI_Wait");
    } else {
      code = MPI_Waitall(2, requests, statuses);
      CHECK(code == MPI_ERR_IN_STATUS, "MPI_Waitall returned %d, not MPI_ERR_IN_STATUS", code);
      expect(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE, "the status of the truncated receive");
      /* The other may be pending still; then it is waited for. */
      if (requests[1] != MPI_REQUEST_NULL) MPI_Wait(&requests[1], &statuses[1]);
    }
    CHECK(data[10] == -5, "a truncated receive wrote past its buffer");
    if (form < 4) MPI_Recv(&after, 1, MPI_INT, sender, 3, WORLD, MPI_STATUS_IGNORE);
    CHECK(after == form, "after a truncated message, %d came instead of %d", after, form);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  for (int sender = 1; sender < size; ++sender) {
    truncated(sender);
    all_here(9);
  }

  int x = 0, far = size - 1 - rank;
  if (far == rank) far = (rank + 1) % size;
  MPI_Request request;
  MPI_Status status;
  expect(MPI_Send(&x, 1, MPI_INT, size, 0, WORLD), MPI_ERR_RANK, "MPI_Send to rank size");
  expect(MPI_Send(&x, 1, MPI_INT, -77, 0, WORLD), MPI_ERR_RANK, "MPI_Send to rank -77");
  expect(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD), MPI_ERR_RANK, "MPI_Send to any");
  expect(MPI_Isend(&x, 1, MPI_INT, size + 3, 0, WORLD, &request), MPI_ERR_RANK, "MPI_Isend");
  expect(MPI_Recv(&x, 1, MPI_INT, size, 0, WORLD, &status), MPI_ERR_RANK, "MPI_Recv");
  expect(MPI_Irecv(&x, 1, MPI_INT, size, 0, WORLD, &request), MPI_ERR_RANK, "MPI_Irecv");
  expect(MPI_Probe(size, 0, WORLD, &status), MPI_ERR_RANK, "MPI_Probe");
  expect(MPI_Send_init(&x, 1, MPI_INT, size, 0, WORLD, &request), MPI_ERR_RANK, "MPI_Send_init");
  expect(MPI_Sendrecv(&x, 1, MPI_INT, size, 0, &x, 1, MPI_INT, far, 0, WORLD, &status),
         MPI_ERR_RANK, "MPI_Sendrecv");
  for (int to = 0; to < size; ++to) {
    expect(MPI_Send(&x, -1, MPI_INT, to, 0, WORLD), MPI_ERR_COUNT, "MPI_Send of -1 elements");
    expect(MPI_Send(&x, 1, MPI_INT, to, -5, WORLD), MPI_ERR_TAG, "MPI_Send with tag -5");
    expect(MPI_Send(&x, 1, MPI_DATATYPE_NULL, to, 0, WORLD), MPI_ERR_TYPE, "MPI_Send of null type");
    expect(MPI_Irecv(&x, -1, MPI_INT, to, 0, WORLD, &request), MPI_ERR_COUNT, "MPI_Irecv of -1");
    expect(MPI_Recv(&x, 1, MPI_DATATYPE_NULL, to, 0, WORLD, &status), MPI_ERR_TYPE,
           "MPI_Recv of null type");
  }

  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm_set_errhandler(WORLD, handler);
  MPI_Send(&x, 1, MPI_INT, size, 0, WORLD);
  CHECK(calls == 1, "the error handler was called %d times", calls);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  return finish("errors");
}
