/* A rank that waits only for the grid keeps its native library going. Messages that its own
   cluster's ranks wait for arrive meanwhile, whether it sends or receives them. ranks: 4 5 6 7 8 */
#include <mpi.h>
#include <stdio.h>

enum { kRequest = 1, kDone, kNative, kMost = 8 << 20 };
static char data[kMost];

static void tell(int to, int tag) { MPI_Send(NULL, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD); }
static void hear(int from, int tag) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Ranks 0 and 1 are of one cluster; the last, `far`, of another, has rank 1 complete what rank 0
   has begun, and lets rank 0 go on after that. */
static void meet(int rank, int far, int size, int receives) {
  if (rank == 0) {
    MPI_Request request;
    if (receives) {
      MPI_Irecv(data, size, MPI_BYTE, 1, kNative, MPI_COMM_WORLD, &request);
    } else {
      MPI_Issend(data, size, MPI_BYTE, 1, kNative, MPI_COMM_WORLD, &request);
    }
    tell(far, kRequest);
    hear(far, kDone);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    hear(far, kRequest);
    if (receives) {
      MPI_Ssend(data, size, MPI_BYTE, 0, kNative, MPI_COMM_WORLD);
    } else {
      MPI_Recv(data, size, MPI_BYTE, 0, kNative, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    tell(far, kDone);
  } else if (rank == far) {
    hear(0, kRequest);
    tell(1, kRequest);
    hear(1, kDone);
    tell(0, kDone);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int sizes[] = {0, 1, 100000, kMost};
  for (int i = 0; i < 4; ++i) {
    for (int receives = 0; receives < 2; ++receives) meet(rank, ranks - 1, sizes[i], receives);
  }
  if (rank == 0) printf("natives_move_on: passed\n");
  MPI_Finalize();
  return 0;
}
