/* The driver comes with a library that the program opens between its messages. The first message
 * after that is at MPI_BOTTOM, and has gaps. Only rank 1 has opened it when rank 0 accesses memory
 * that it attaches to a window made before. Then rank 0 opens it, too, and its next window finds
 * it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 300007, ROWS = 3000, STRIDE = 20 };
static void* (*alloc)(size_t);
static void (*copy)(void*, const void*, size_t), (*read)(void*, const void*, size_t);

static void open_driver(const char* name) {
  void* const driver = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!driver) MPI_Abort(MPI_COMM_WORLD, 3);
  alloc = (void* (*)(size_t))dlsym(driver, "gpu_alloc");
  copy = (void (*)(void*, const void*, size_t))dlsym(driver, "gpu_write");
  read = (void (*)(void*, const void*, size_t))dlsym(driver, "gpu_read");
}

static int in_window(int rank, MPI_Win win) {
  int* const data = malloc(COUNT * sizeof(int));
  int* const back = malloc(COUNT * sizeof(int));
  int wrong = 0;
  MPI_Aint at = 0;
  void* device = NULL;
  if (rank == 1) {
    device = alloc(COUNT * sizeof(int));
    MPI_Win_attach(win, device, COUNT * sizeof(int));
    MPI_Get_address(device, &at);
    MPI_Send(&at, 1, MPI_AINT, 0, 4, MPI_COMM_WORLD);
  } else {
    MPI_Datatype rows;
    MPI_Type_vector(ROWS, STRIDE / 2, STRIDE, MPI_INT, &rows);
    MPI_Type_commit(&rows);
    MPI_Recv(&at, 1, MPI_AINT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; ++i) data[i] = i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(data, COUNT, MPI_INT, 1, at, COUNT, MPI_INT, win);
    MPI_Win_flush(1, win);
    MPI_Accumulate(data, COUNT, MPI_INT, 1, at, COUNT, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(1, win);
    MPI_Put(data, 1, rows, 1, at, 1, rows, win);
    MPI_Win_flush(1, win);
    MPI_Get(back, COUNT, MPI_INT, 1, at, COUNT, MPI_INT, win);
    MPI_Win_unlock(1, win);
    for (int i = 0; i < COUNT; ++i) {
      const int put = i < ROWS * STRIDE && i % STRIDE < STRIDE / 2;
      wrong |= back[i] != (put ? i : 2 * i);
    }
    MPI_Type_free(&rows);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    read(back, device, COUNT * sizeof(int));
    wrong |= back[COUNT - 1] != 2 * (COUNT - 1);
    MPI_Win_detach(win, device);
  }
  free(data);
  free(back);
  return wrong;
}

/* Rank 0 puts from memory of the device to both. */
static int in_next_window(int rank) {
  int *base, value = 7;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = 0;
  MPI_Win_fence(0, win);
  if (rank == 0) {
    void* const device = alloc(sizeof value);
    copy(device, &value, sizeof value);
    for (int to = 0; to < 2; ++to) MPI_Put(device, 1, MPI_INT, to, 0, 1, MPI_INT, win);
  }
  MPI_Win_fence(0, win);
  const int wrong = *base != value;
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char** argv) {
  enum { APART = 2 };
  int rank, got[2] = {-1, -1}, value[APART + 1] = {0};
  MPI_Datatype far;
  MPI_Request request;
  void* device = NULL;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (rank == 1) open_driver(argv[1]);
  int wrong = in_window(rank, win);
  for (int i = 0; i < 100; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  if (rank == 0) open_driver(argv[1]);
  wrong |= in_next_window(rank);
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
  MPI_Win_free(&win);
  MPI_Finalize();
  return !wrong && got[0] == 41 - rank && got[1] == 61 - rank ? 0 : 1;
}
