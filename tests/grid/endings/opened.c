/* A program opens a library that uses MPI, and closes it: after MPI_Init or before, to load it
 * again or for good. Compiled with LIBRARY, this is the library. */
#include <stdio.h>

#ifdef LIBRARY
#include <mpi.h>

int begin(void) { return MPI_Init(NULL, NULL); }
int end(void) { return MPI_Finalize(); }
int work(void) {
  int rank, size, sum = 0, one = 1, came = -1;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Irecv(&came, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum != size || came != (rank - 1 + size) % size;
}
#else
#include <dlfcn.h>

static void* library;

static int call(const char* name) {
  int (*function)(void) = (int (*)(void))dlsym(library, name);
  return function == NULL || function() != 0;
}

/* Arguments: the library, and a letter for each step. */
int main(int argc, char** argv) {
  int wrong = argc != 3;
  for (const char* step = argv[2]; !wrong && *step; ++step) {
    if (*step == 'o') wrong = (library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) == NULL;
    if (*step == 'b') wrong = call("begin");
    if (*step == 'w') wrong = call("work");
    if (*step == 'e') wrong = call("end");
    if (*step == 'c') wrong = dlclose(library) != 0;
    if (wrong) fprintf(stderr, "step '%s' of '%s' failed\n", step, argv[2]);
  }
  return wrong;
}
#endif
