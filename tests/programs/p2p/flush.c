/* Flushing the buffers of MPI_Bsend, and buffers of communicators: what is attached to one serves
   it alone. Ranks whose library is older than MPI-4.1 only receive. ranks: 2 4 */
#include "p2p.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAVE_FLUSH 1
#else
#define HAVE_FLUSH 0
#endif

enum { kBytes = 3 << 20, kBatch = 2 };

static MPI_Comm other;
static char* data;

#if HAVE_FLUSH
static void buffered(int to, int number, MPI_Comm comm) {
  memset(data, number, kBytes);
  CHECK(MPI_Bsend(data, kBytes, MPI_CHAR, to, number, comm) == MPI_SUCCESS,
        "MPI_Bsend %d to rank %d failed", number, to);
  memset(data, -1, kBytes);
}

/* More than a batch does not fit, so that a batch after a flush shows that the flush made room. */
static void batch(int to, int which, MPI_Comm comm) {
  for (int i = 0; i < kBatch; ++i) buffered(to, which * kBatch + i, comm);
}

static void refused(int to, MPI_Comm comm, const char* what) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Bsend(data, kBytes, MPI_CHAR, to, 99, comm), &error_class);
  CHECK(error_class == MPI_ERR_BUFFER, "MPI_Bsend %s: error class %d", what, error_class);
}

static void send_to(int to) {
  const int room = kBatch * (kBytes + MPI_BSEND_OVERHEAD) + kBytes / 2;
  char* buffer = malloc((size_t)room);
  void* address = NULL;
  int bytes = -1, flag = 0;
  MPI_Count large = -1;
  MPI_Request request = MPI_REQUEST_NULL;

  /* The buffer of the process. */
  MPI_Buffer_attach(buffer, room);
  batch(to, 0, WORLD);
  MPI_Buffer_flush();
  batch(to, 1, WORLD);
  MPI_Buffer_iflush(&request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  batch(to, 2, WORLD);
  MPI_Buffer_detach(&address, &bytes);
  CHECK(address == buffer && bytes == room, "MPI_Buffer_detach gave another buffer");

  /* A communicator's own. */
  MPI_Comm_attach_buffer(other, buffer, room);
  refused(to, WORLD, "with a buffer attached to another communicator only");
  batch(to, 3, other);
  MPI_Comm_flush_buffer(other);
  batch(to, 4, other);
  MPI_Comm_iflush_buffer(other, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  batch(to, 5, other);
  MPI_Comm_detach_buffer(other, &address, &bytes);
  CHECK(address == buffer && bytes == room, "MPI_Comm_detach_buffer gave another buffer");
  refused(to, other, "after MPI_Comm_detach_buffer");

  MPI_Comm_attach_buffer_c(other, buffer, room);
  batch(to, 6, other);
  MPI_Comm_detach_buffer_c(other, &address, &large);
  CHECK(address == buffer && large == room, "MPI_Comm_detach_buffer_c gave another buffer");

  /* The buffer takes everything. */
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  batch(to, 7, WORLD);
  batch(to, 8, WORLD);
  MPI_Buffer_flush();
  MPI_Buffer_detach(&address, &bytes);
  MPI_Comm_attach_buffer(other, MPI_BUFFER_AUTOMATIC, 0);
  batch(to, 9, other);
  batch(to, 10, other);
  MPI_Comm_detach_buffer(other, &address, &bytes);

  /* Both return at once if nothing is in progress. */
  MPI_Buffer_flush();
  MPI_Comm_iflush_buffer(other, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(buffer);
}
#endif

/* Each batch in the other order. */
static void receive_from(int from) {
  static const int kOnOther[] = {0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1};
  for (int which = 0; which < 11; ++which)
    for (int i = kBatch - 1; i >= 0; --i) {
      const int number = which * kBatch + i;
      MPI_Recv(data, kBytes, MPI_CHAR, from, number, kOnOther[which] ? other : WORLD,
               MPI_STATUS_IGNORE);
      for (int k = 0; k < kBytes; k += 997)
        CHECK(data[k] == number, "byte %d of message %d from rank %d is %d", k, number, from,
              data[k]);
    }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  data = malloc(kBytes);
  MPI_Comm_dup(WORLD, &other);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  for (int s = 0; s < size; s += size - 1) {
    int able = HAVE_FLUSH;
    for (int r = 0; r < size; ++r) {
      if (r == s) continue;
      if (rank == s) MPI_Send(&able, 1, MPI_INT, r, 98, WORLD);
      if (rank == r) MPI_Recv(&able, 1, MPI_INT, s, 98, WORLD, MPI_STATUS_IGNORE);
#if HAVE_FLUSH
      if (rank == s) send_to(r);
#endif
      if (rank == r && able) receive_from(s);
    }
  }
  all_here(97);
  MPI_Comm_free(&other);
  free(data);
  return finish("flush");
}
