/* Messages whose number and size are known: a ring, one to all in each half, persistent ones, puts,
 * collectives, a file. */
#include <mpi.h>
#include <stdlib.h>

static char out[4096], in[4096];

static void ring(int rank, int size) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv(out, 100, MPI_CHAR, next, 0, in, 100, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void persistent(int rank, int size) {
  MPI_Request requests[2];
  MPI_Send_init(out, 500, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 500, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

/* World ranks of one parity: from the first to each other 12 bytes. The handle may be used again,
 * by a communicator of others. */
static void halves(int rank) {
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, turn == 0 ? rank % 2 : rank / 2, rank, &half);
    int r, n;
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &n);
    for (int i = 1; r == 0 && i < n; ++i) MPI_Send(out, 3, MPI_INT, i, 2, half);
    if (r != 0) MPI_Recv(in, 3, MPI_INT, MPI_ANY_SOURCE, 2, half, MPI_STATUS_IGNORE);
    MPI_Bcast(in, 64, MPI_BYTE, 0, half);
    MPI_Comm_free(&half);
  }
}

static void window(int rank, int size) {
  static char memory[64];
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, 32, MPI_CHAR, (rank + 1) % size, 0, 32, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  int rank, size;
  double x = 1, y;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(rank, size);
  persistent(rank, size);
  halves(rank);
  window(rank, size);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(out, 4, MPI_CHAR, in, 4, MPI_CHAR, MPI_COMM_WORLD);
  if (argc > 1) {
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, out, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
