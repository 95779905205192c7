/* Refused calls raise their error through the handler that the standard names, in all callers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errors = 0, rank = -1, called = 0;

static void expect(int well, const char* what) {
  if (well) return;
  ++errors;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void expect_refusal(int code, const char* function) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  expect(class == MPI_ERR_UNSUPPORTED_OPERATION, function);
  expect(strstr(text, function) != NULL, text);
}

static void on_comm(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  called += 100;
}

/* An extension, of the libraries that have it. */
#ifdef MPICH_NAME
static void extensions(void) {
  expect_refusal(MPIX_Comm_revoke(MPI_COMM_WORLD), "MPIX_Comm_revoke");
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(on_comm, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  called = 0;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  expect(called == 100, "the handler of the communicator was not called");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&own);
}
#else
static void extensions(void) {
  (void)expect_refusal;
  (void)on_comm;
  (void)called;
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  extensions();
  MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return errors != 0;
}
