/* Sessions before, during and after MPI_Init and MPI_Finalize. needs: sessions. ranks: 2 3 */
#include "sessions.h"

int main(int argc, char** argv) {
  int flag = -1, provided = -1;
  MPI_Session before, during;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &before);
  MPI_Initialized(&flag);
  CHECK(!flag, "initialized by a session");
  MPI_Comm early = comm_of(before, "mpi://WORLD", "early");
  prove_world(early);
  CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS,
        "no MPI_Init");
  MPI_Initialized(&flag);
  CHECK(flag && provided >= MPI_THREAD_SINGLE, "not initialized, or at level %d", provided);
  prove_world(MPI_COMM_WORLD);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &during);
  MPI_Comm late = comm_of(during, "mpi://WORLD", "late");
  prove_world(late);
  MPI_Finalized(&flag);
  CHECK(!flag, "finalized too early");
  MPI_Finalize();
  MPI_Finalized(&flag);
  CHECK(flag, "not finalized");
  prove_world(early);
  prove_world(late);
  MPI_Comm_free(&late);
  MPI_Session_finalize(&during);
  prove_world(early);
  MPI_Comm_free(&early);
  MPI_Session_finalize(&before);
  MPI_Finalized(&flag);
  CHECK(flag, "not finalized any more");
  if (atoi(my_rank()) == 0) printf("sessions beside MPI_Init: passed\n");
  return 0;
}
