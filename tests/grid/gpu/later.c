/* The driver comes with a library that the program opens between its messages. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

int main(int argc, char** argv) {
  int rank, got = -1, value;
  uintptr_t device = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
  int (*const alloc)(uintptr_t*, size_t) =
      (int (*)(uintptr_t*, size_t))dlsym(driver, "cuMemAlloc_v2");
  int (*const copy)(uintptr_t, const void*, size_t) =
      (int (*)(uintptr_t, const void*, size_t))dlsym(driver, "cuMemcpyHtoD_v2");
  value = 40 + rank;
  if (alloc(&device, sizeof value) || copy(device, &value, sizeof value)) {
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Sendrecv((void*)device, 1, MPI_INT, 1 - rank, 3, &got, 1, MPI_INT, 1 - rank, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return got == 41 - rank ? 0 : 1;
}
