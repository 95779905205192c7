/* Calls MPI from a constructor, then from many threads at once before anything else; then a few
 * calls of different shapes. Prints one line per rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 8 };
static int in_constructor = -1;

__attribute__((constructor)) static void before_main(void) { MPI_Initialized(&in_constructor); }

static void* first_calls(void* arg) {
  int* seen = arg;
  int version = 0, subversion = 0;
  MPI_Initialized(seen);
  MPI_Get_version(&version, &subversion);
  if (version < 3) *seen = 1;
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t thread[kThreads];
  int seen[kThreads], wrong = 0, rank, size, sum, length;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, first_calls, &seen[i]);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(thread[i], NULL);
    wrong += seen[i] != 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Pcontrol(1, 2.5, "variable", 4);
  MPI_Get_library_version(text, &length);
  printf("rank %d of %d sum %d wrong %d constructor %d time %d isthmus %d\n", rank, size, sum,
         wrong, in_constructor, MPI_Wtime() >= 0, text[0] == 'I' && text[1] == 's');
  MPI_Finalize();
  return 0;
}
