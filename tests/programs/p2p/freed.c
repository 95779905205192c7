/* A receive may end with an error after its communicator was freed. The error goes to the handler
   that the communicator had. This also holds for a message that the program held, and for a receive
   that starts only then. Each rank sends four words to one of the other cluster, who has room for
   one.
   needs: blocks. ranks: 2 4 */
#include "p2p.h"

static int calls, last_class;

static void note(MPI_Comm* comm, int* code, ...) {
  int members = 0;
  ++calls;
  MPI_Error_class(*code, &last_class);
  MPI_Comm_size(*comm, &members); /* a valid communicator, although its own is gone */
  CHECK(members > 0, "the handler got a communicator of %d ranks", members);
}

static MPI_Comm others[3];

static MPI_Comm make(MPI_Errhandler handler) {
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  calls = 0;
  return comm;
}

/* Others come, which may get its handle. */
static void unmake(MPI_Comm comm) {
  MPI_Comm_free(&comm);
  for (int i = 0; i < 3; ++i) MPI_Comm_dup(WORLD, &others[i]);
}

static void check(int code, MPI_Errhandler handler, const char* what) {
  const int class = class_of(code);
  CHECK(class == MPI_ERR_TRUNCATE, "%s returned class %d, not MPI_ERR_TRUNCATE", what, class);
  if (handler != MPI_ERRORS_RETURN) {
    CHECK(calls == 1, "%s: the handler was called %d times", what, calls);
    CHECK(last_class == MPI_ERR_TRUNCATE, "%s: the handler heard of class %d", what, last_class);
  }
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&others[i]);
}

static void once(MPI_Errhandler handler, int source) {
  const int other = (rank + size / 2) % size;
  MPI_Comm comm = make(handler);
  MPI_Request requests[2];
  int in[4] = {0}, out[4] = {1, 2, 3, 4};
  MPI_Irecv(in, 1, MPI_INT, source, 3, comm, &requests[0]);
  MPI_Isend(out, 4, MPI_INT, other, 3, comm, &requests[1]);
  unmake(comm);
  check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), handler, "MPI_Wait");
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void held(MPI_Errhandler handler, int source) {
  const int other = (rank + size / 2) % size;
  MPI_Comm comm = make(handler);
  MPI_Request request;
  MPI_Message message;
  int in[4] = {0}, out[4] = {1, 2, 3, 4};
  MPI_Isend(out, 4, MPI_INT, other, 3, comm, &request);
  MPI_Mprobe(source, 3, comm, &message, MPI_STATUS_IGNORE);
  unmake(comm);
  check(MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE), handler, "MPI_Mrecv");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void started(MPI_Errhandler handler, int source) {
  const int other = (rank + size / 2) % size;
  MPI_Comm comm = make(handler);
  MPI_Request requests[2];
  int in[4] = {0}, out[4] = {1, 2, 3, 4};
  MPI_Recv_init(in, 1, MPI_INT, source, 3, comm, &requests[0]);
  MPI_Send_init(out, 4, MPI_INT, other, 3, comm, &requests[1]);
  unmake(comm);
  MPI_Startall(2, requests);
  check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), handler, "MPI_Wait after MPI_Start");
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int other = (rank + size / 2) % size;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  const MPI_Errhandler handlers[] = {MPI_ERRORS_RETURN, handler};
  const int sources[] = {other, MPI_ANY_SOURCE};
  for (int i = 0; i < 4; ++i) {
    once(handlers[i % 2], sources[i / 2]);
    held(handlers[i % 2], sources[i / 2]);
    started(handlers[i % 2], sources[i / 2]);
  }
  MPI_Errhandler_free(&handler);
  return finish("freed");
}
