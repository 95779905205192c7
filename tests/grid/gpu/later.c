/* The driver comes with a library that the program opens between its messages. The first message
 * after that is at MPI_BOTTOM, and has gaps. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
  enum { APART = 2 };
  int rank, got[2] = {-1, -1}, value[APART + 1] = {0};
  MPI_Datatype far;
  MPI_Request request;
  void* device = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  void* const driver = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
  void* (*const alloc)(size_t) = (void* (*)(size_t))dlsym(driver, "gpu_alloc");
  void (*const copy)(void*, const void*, size_t) =
      (void (*)(void*, const void*, size_t))dlsym(driver, "gpu_write");
  value[0] = 40 + rank, value[APART] = 60 + rank;
  device = alloc(sizeof value);
  copy(device, value, sizeof value);
  const MPI_Aint at[] = {(MPI_Aint)device, (MPI_Aint)((int*)device + APART)};
  MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &far);
  MPI_Type_commit(&far);
  MPI_Isend(MPI_BOTTOM, 1, far, 1 - rank, 3, MPI_COMM_WORLD, &request);
  MPI_Recv(got, 2, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&far);
  MPI_Finalize();
  return got[0] == 41 - rank && got[1] == 61 - rank ? 0 : 1;
}
