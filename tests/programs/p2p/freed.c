/* A receive that ends with an error after its communicator was freed raises it by the handler that
   the communicator had. Each rank sends four words to one of the other cluster, who has room for
   one. ranks: 2 4 */
#include "p2p.h"

static int calls, last_class;

static void note(MPI_Comm* comm, int* code, ...) {
  int members = 0;
  ++calls;
  MPI_Error_class(*code, &last_class);
  MPI_Comm_size(*comm, &members); /* a valid communicator, although its own is gone */
  CHECK(members > 0, "the handler got a communicator of %d ranks", members);
}

static void once(MPI_Errhandler handler, int source) {
  const int other = (rank + size / 2) % size;
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Request requests[2];
  int in[4] = {0}, out[4] = {1, 2, 3, 4};
  MPI_Irecv(in, 1, MPI_INT, source, 3, comm, &requests[0]);
  MPI_Isend(out, 4, MPI_INT, other, 3, comm, &requests[1]);
  MPI_Comm_free(&comm);
  MPI_Comm others[3]; /* which may get its handle */
  for (int i = 0; i < 3; ++i) MPI_Comm_dup(WORLD, &others[i]);
  calls = 0;
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), &class);
  CHECK(class == MPI_ERR_TRUNCATE, "MPI_Wait returned class %d, not MPI_ERR_TRUNCATE", class);
  if (handler != MPI_ERRORS_RETURN) {
    CHECK(calls == 1, "the handler was called %d times", calls);
    CHECK(last_class == MPI_ERR_TRUNCATE, "the handler heard of class %d", last_class);
  }
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&others[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int other = (rank + size / 2) % size;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  once(MPI_ERRORS_RETURN, other);
  once(handler, other);
  once(MPI_ERRORS_RETURN, MPI_ANY_SOURCE);
  once(handler, MPI_ANY_SOURCE);
  MPI_Errhandler_free(&handler);
  return finish("freed");
}
