/* Every mode of sending, blocking and not, between every pair of ranks, in several sizes.
   ranks: 2 4 */
#include "p2p.h"

enum { kModes = 8 };
static const int sizes[] = {0, 1, 1000, 40000};

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static Send* const blocking[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static Isend* const nonblocking[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};

static void send_in_mode(int mode, const int* data, int n, int to, int tag) {
  if (mode < 4) {
    blocking[mode](data, n, MPI_INT, to, tag, WORLD);
    return;
  }
  MPI_Request request;
  nonblocking[mode - 4](data, n, MPI_INT, to, tag, WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL, "the request of mode %d is not null after MPI_Wait", mode);
}

static void pass(int from, int to, int mode, int n, int nonblocking_receive) {
  const int tag = mode * 10 + nonblocking_receive;
  int* data = malloc(sizeof(int) * (size_t)(n + 1));
  char go = 0;
  if (rank == from) {
    fill(data, n, from, to, mode);
    if (mode == 3 || mode == 7) MPI_Recv(&go, 1, MPI_CHAR, to, 99, WORLD, MPI_STATUS_IGNORE);
    send_in_mode(mode, data, n, to, tag);
  } else if (rank == to) {
    MPI_Status status;
    memset(data, 0xff, sizeof(int) * (size_t)(n + 1));
    if (nonblocking_receive || mode == 3 || mode == 7) {
      MPI_Request request;
      MPI_Irecv(data, n, MPI_INT, from, tag, WORLD, &request);
      if (mode == 3 || mode == 7) MPI_Send(&go, 1, MPI_CHAR, from, 99, WORLD);
      MPI_Wait(&request, &status);
    } else {
      MPI_Recv(data, n, MPI_INT, from, tag, WORLD, &status);
    }
    check_status(&status, from, tag, n, MPI_INT, "a receive");
    check_data(data, n, from, to, mode, "a receive");
    CHECK(data[n] == -1, "a receive wrote past its buffer");
  }
  free(data);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int buffer_size = (40000 * 4 + MPI_BSEND_OVERHEAD) * 2;
  void* buffer = malloc((size_t)buffer_size);
  MPI_Buffer_attach(buffer, buffer_size);
  for (int s = 0; s < 4; ++s)
    for (int mode = 0; mode < kModes; ++mode)
      for (int from = 0; from < size; ++from)
        for (int to = 0; to < size; ++to)
          if (from != to)
            for (int receive = 0; receive < 2; ++receive) {
              pass(from, to, mode, sizes[s], receive);
              /* Buffered data must be gone before the buffer is needed again. */
              if ((mode == 2 || mode == 6) && rank == from) {
                void* detached;
                int detached_size;
                MPI_Buffer_detach(&detached, &detached_size);
                CHECK(detached == buffer && detached_size == buffer_size,
                      "MPI_Buffer_detach gave another buffer than was attached");
                MPI_Buffer_attach(buffer, buffer_size);
              }
            }
  int count = 5, x = 7;
  MPI_Status status;
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
  MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(x == 7 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
        "a receive from MPI_PROC_NULL: source %d, tag %d, count %d", status.MPI_SOURCE,
        status.MPI_TAG, count);
  return finish("modes");
}
