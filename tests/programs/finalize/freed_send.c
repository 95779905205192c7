/* MPI-4.0 section 11.2.2: a send that was freed while it is under way, or a buffered one, is
 * received although its sender is in MPI_Finalize. A delete function of MPI_COMM_SELF may
 * communicate. Receives that are held, and a collective that is under way, are what Isthmus has to
 * help along.
 * ranks: 2 4 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBytes = 300000, kSends = 5 };
static int errors;

/* Called within MPI_Finalize. The partner's message is taken by a wildcard, across clusters. */
static int farewell(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  int rank, size, sum = 0, one = 1, mine, theirs = -1;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mine = rank;
  MPI_Irecv(&theirs, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
  MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum != size || theirs != (rank - 1 + size) % size) {
    fprintf(stderr, "rank %d in its delete function: sum %d, from %d\n", rank, sum, theirs);
    _Exit(1);
  }
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int rank, size, key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, farewell, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  const int to = (rank + size / 2) % size, from = (rank - size / 2 + size) % size;
  unsigned char* out = malloc(kSends * kBytes);
  unsigned char* in = malloc(kBytes);
  for (int i = 0; i < kSends * kBytes; ++i) out[i] = (unsigned char)(i % 251 + rank);
  const int room = kBytes + MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(malloc((size_t)room), room);
  MPI_Request request;
  for (int k = 0; k < kSends - 1; ++k) {
    MPI_Isend(out + k * kBytes, kBytes, MPI_BYTE, to, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Bsend(out + (kSends - 1) * kBytes, kBytes, MPI_BYTE, to, 9, MPI_COMM_WORLD);
  for (int k = 0; k < kSends; ++k) {
    MPI_Recv(in, kBytes, MPI_BYTE, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kBytes; ++i) {
      if (in[i] == (unsigned char)((k * kBytes + i) % 251 + from)) continue;
      fprintf(stderr, "rank %d: byte %d of message %d is wrong\n", rank, i, k);
      errors = 1;
      break;
    }
  }
  MPI_Finalize();
  return errors;
}
