/* The attached buffer bounds what is under way; detaching it waits. ranks: 2 4 */
#include "p2p.h"

enum { kBytes = 10000 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  char* data = calloc(1, kBytes);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    int code = MPI_SUCCESS, error_class = 0, size_ = 0;
    const int room = 3 * (kBytes + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room), *detached = NULL;
    code = MPI_Bsend(data, kBytes, MPI_CHAR, size - 1, 1, WORLD);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_BUFFER, "MPI_Bsend without a buffer: error class %d", error_class);
    MPI_Buffer_attach(buffer, room);
    code = MPI_Bsend(buffer, room + 1, MPI_CHAR, size - 1, 1, WORLD);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_BUFFER, "MPI_Bsend beyond the buffer: error class %d",
          error_class);
    for (int r = 1; r < size; ++r) {
      for (int i = 0; i < 3; ++i) {
        memset(data, r + i, kBytes);
        CHECK(MPI_Bsend(data, kBytes, MPI_CHAR, r, i, WORLD) == MPI_SUCCESS,
              "MPI_Bsend %d to rank %d failed", i, r);
      }
      memset(data, 99, kBytes);
      MPI_Buffer_detach(&detached, &size_);
      CHECK(detached == buffer && size_ == room, "MPI_Buffer_detach gave another buffer");
      MPI_Buffer_attach(buffer, room);
    }
    MPI_Buffer_detach(&detached, &size_);
    free(buffer);
  } else {
    for (int i = 2; i >= 0; --i) {
      MPI_Recv(data, kBytes, MPI_CHAR, 0, i, WORLD, MPI_STATUS_IGNORE);
      for (int k = 0; k < kBytes; ++k)
        CHECK(data[k] == rank + i, "byte %d of message %d is %d", k, i, data[k]);
    }
  }
  free(data);
  return finish("bsend");
}
