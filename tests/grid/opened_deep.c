/* opens LIBRARY HOW: opens a library that calls MPI and lets it do so; HOW: deep or local. The
 * library says which rank it is of how many, and whether a function of its own dependencies is its
 * own as the flag wants: `twin` of the library beside it, or the program's. */
#ifdef BESIDE
const char* twin(void) { return "beside"; }
#elif defined(LIBRARY)
#include <mpi.h>
#include <stdio.h>
const char* twin(void);
void work(void);
void work(void) {
  int rank, size, sum = 0, one = 1;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d, sum %d, %s\n", rank, size, sum, twin());
  fflush(stdout);
  MPI_Finalize();
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
const char* twin(void);
const char* twin(void) { return "program"; }
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int deep = strcmp(argv[2], "deep") == 0 ? RTLD_DEEPBIND : 0;
  void* library = dlopen(argv[1], RTLD_LAZY | deep);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  ((void (*)(void))dlsym(library, "work"))();
  return 0;
}
#endif
