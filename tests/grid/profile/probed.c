// Rank 0 sends ten messages, of which rank 1 receives every other one by MPI_Mrecv, and puts five
// times 100,000 bytes into its window.
#include <mpi.h>

#define MESSAGES 10
#define PUTS 5
#define BYTES 100000

static char from[BYTES], to[BYTES];

static void receive(int i) {
  if (i % 2 == 0) {
    MPI_Recv(to, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Message message;
  MPI_Mprobe(0, i, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(to, BYTES, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < MESSAGES; ++i) {
    if (rank == 0) MPI_Send(from, 10 * (i + 1), MPI_CHAR, 1, i, MPI_COMM_WORLD);
    if (rank == 1) receive(i);
  }
  MPI_Win window;
  MPI_Win_create(to, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  for (int i = 0; rank == 0 && i < PUTS; ++i) {
    MPI_Put(from, BYTES, MPI_CHAR, 1, 0, BYTES, MPI_CHAR, window);
    MPI_Win_flush(1, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
