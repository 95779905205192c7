/* The process that has started the victim's ranks is killed, in a barrier: the native launcher, or
 * its part on their host. The ranks themselves would wait for ever. */
#include "survivors.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) kill(getppid(), SIGKILL);
  while (dead[rank]) pause();
  const int code = MPI_Barrier(MPI_COMM_WORLD);
  CHECK(code == ISTHMUS_ERR_PROC_FAILED, "the barrier gives %d", code);
  return end();
}
