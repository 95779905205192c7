/* Wrong arguments raise the standard's error classes through the communicator's error handler, and
   leave it usable; uneven sizes are found. ranks: 2 4 */
#include "check.h"

static int calls, last_code;
static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++calls;
  last_code = *code;
}

static void expect_class(int code, int wanted, const char* what) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  CHECK(class == wanted, "%s: class %d (%s), expected %d", what, class, text, wanted);
  CHECK(length > 0, "%s: no text", what);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  trying = "a duplicate of MPI_COMM_WORLD";
  doing = "wrong arguments";
  MPI_Comm comm;
  int size, rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

  int a[64] = {0}, b[64] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Bcast(a, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "MPI_Bcast, negative count");
  expect_class(MPI_Bcast(a, 1, MPI_INT, size, comm), MPI_ERR_ROOT, "MPI_Bcast, root too large");
  expect_class(MPI_Bcast(a, 1, MPI_INT, -1, comm), MPI_ERR_ROOT, "MPI_Bcast, root negative");
  expect_class(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE, "MPI_Bcast, no type");
  expect_class(MPI_Ibcast(a, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT, "MPI_Ibcast");
  expect_class(MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP, "MPI_Reduce");
  expect_class(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, size + 3, comm), MPI_ERR_ROOT, "MPI_Reduce");
  expect_class(MPI_Allreduce(a, b, -5, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT, "MPI_Allreduce");
  expect_class(MPI_Allgather(a, -1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_COUNT, "MPI_Allgather");
  expect_class(MPI_Scan(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE, "MPI_Scan");

  /* Operations and datatypes that no library brings together, and then one that all do. */
  double x[2] = {1, 2}, y[2];
  expect_class(MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP, "MPI_BAND, double");
  expect_class(MPI_Reduce(x, y, 2, MPI_DOUBLE, MPI_BXOR, 0, comm), MPI_ERR_OP, "MPI_BXOR, double");
  expect_class(MPI_Scan(a, b, 1, MPI_INT, MPI_MAXLOC, comm), MPI_ERR_OP, "MPI_MAXLOC, int");
  expect_class(MPI_Iallreduce(a, b, 1, MPI_FLOAT_INT, MPI_SUM, comm, &request), MPI_ERR_OP,
               "MPI_SUM, float and int");
  MPI_Datatype gapped;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gapped);
  MPI_Type_commit(&gapped);
  expect_class(MPI_Reduce_scatter_block(a, b, 1, gapped, MPI_SUM, comm), MPI_ERR_OP,
               "MPI_SUM, a derived datatype");
  MPI_Type_free(&gapped);
  for (int again = 0; again < 2; ++again)
    expect_class(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "MPI_SUM, int");

  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Bcast(a, -1, MPI_INT, 0, comm);
  CHECK(calls == 1, "the error handler was called %d times", calls);
  expect_class(last_code, MPI_ERR_COUNT, "the error handler's code");
  MPI_Errhandler_free(&handler);

  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "the communicator is of no more use: sum %d", sum);
  MPI_Comm_free(&comm);
  return finish("errors");
}
