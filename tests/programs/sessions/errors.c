/* Wrong calls of sessions, error handlers, and a session that comes too late. needs: sessions.
   ranks: 2 */
#include "sessions.h"

static int calls = 0;
static void count(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++calls;
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group = MPI_GROUP_NULL, alone;
  MPI_Comm comm, other;
  MPI_Errhandler handler;
  int class = 0;
  MPI_Init(&argc, &argv);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  CHECK(MPI_Group_from_session_pset(session, "isthmus://cluster/nowhere", &group) != MPI_SUCCESS,
        "a process set that does not exist");
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  CHECK(MPI_Comm_create_from_group(group, "with a handler", MPI_INFO_NULL, handler, &comm) ==
            MPI_SUCCESS,
        "no communicator");
  const int code = MPI_Send(NULL, 0, MPI_INT, 77, 0, comm);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_RANK && calls == 1, "error class %d, %d calls", class, calls);
  /* Only those in the group need call. */
  const int me = atoi(my_rank());
  MPI_Group_incl(group, 1, &me, &alone);
  CHECK(MPI_Comm_create_from_group(alone, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other) ==
            MPI_SUCCESS,
        "no communicator of one");
  MPI_Comm_free(&other);
  MPI_Comm_free(&comm);
  MPI_Group_free(&alone);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&handler);
  MPI_Session_finalize(&session);
  MPI_Finalize();
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS,
        "a session after the end");
  CHECK(session == MPI_SESSION_NULL, "a handle after the end");
  return 0;
}
