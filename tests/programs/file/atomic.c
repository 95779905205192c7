/* Atomic mode: accesses of processes of both clusters to the same bytes, each as a whole.
   ranks: 2 4 */
#include "file.h"

enum { kInts = 300 * 1024, kRounds = 4 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int* mine = malloc(sizeof(int) * kInts);
  for (int share = 0; share < 2 && spans_clusters(MPI_COMM_WORLD); ++share) {
    MPI_Info info = hints(share);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, fresh_name("atomic"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    OK(MPI_File_set_size(file, sizeof(int) * kInts));
    OK(MPI_File_set_atomicity(file, 1));
    int flag = 0;
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag, "not atomic");
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kInts; ++i) mine[i] = rank * 100 + round;
      MPI_Request request;
      if (round % 2) {
        OK(MPI_File_iwrite_at(file, 0, mine, kInts, MPI_INT, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      } else {
        OK(MPI_File_write_at(file, 0, mine, kInts, MPI_INT, MPI_STATUS_IGNORE));
      }
      OK(MPI_File_read_at(file, 0, mine, kInts, MPI_INT, MPI_STATUS_IGNORE));
      for (int i = 1; i < kInts; ++i) {
        CHECK(mine[i] == mine[0], "torn at %d: %d and %d", i, mine[i], mine[0]);
      }
    }
    OK(MPI_File_close(&file));
  }
  free(mine);
  return finish("atomic");
}
