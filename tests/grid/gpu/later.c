/* The driver comes with a library that the program opens between its messages. */
#include <dlfcn.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, got = -1, value;
  void* device = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  void* const driver = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
  void* (*const alloc)(size_t) = (void* (*)(size_t))dlsym(driver, "gpu_alloc");
  void (*const copy)(void*, const void*, size_t) =
      (void (*)(void*, const void*, size_t))dlsym(driver, "gpu_write");
  value = 40 + rank;
  device = alloc(sizeof value);
  copy(device, &value, sizeof value);
  MPI_Sendrecv(device, 1, MPI_INT, 1 - rank, 3, &got, 1, MPI_INT, 1 - rank, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return got == 41 - rank ? 0 : 1;
}
