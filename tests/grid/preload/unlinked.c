/* As Julia or Java do: no MPI at link time. unlinked LIBRARY prints "rank R of N". */
#include <dlfcn.h>
#include <stdio.h>

typedef int init_function(int*, char***);
typedef int ask_function(void* comm, int* value);
typedef int end_function(void);

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : 0;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  /* Open MPI's communicators are addresses, MPICH's numbers. */
  void* world = dlsym(library, "ompi_mpi_comm_world");
  if (!world) world = (void*)0x44000000;
  int rank = -1, size = -1;
  ((init_function*)dlsym(library, "MPI_Init"))(&argc, &argv);
  ((ask_function*)dlsym(library, "MPI_Comm_rank"))(world, &rank);
  ((ask_function*)dlsym(library, "MPI_Comm_size"))(world, &size);
  printf("rank %d of %d\n", rank, size);
  return ((end_function*)dlsym(library, "MPI_Finalize"))();
}
