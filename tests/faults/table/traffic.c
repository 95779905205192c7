/* traffic BELL FILE [SPAWN]: traffic of every kind, in rounds, until the file BELL exists; every
 * byte is checked. A round has messages of three sizes, collectives, a window, a file, and with
 * SPAWN two spawned processes. Rank 0 tells the rounds, and in the end "every byte right". A wrong
 * byte ends the job with status 77. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMost = 100000, kBlock = 4096, kPiece = 65536, kChildren = 2 };

static int rank, size;

static unsigned char byte_of(int from, int to, int round, int at) {
  return (unsigned char)(from * 31 + to * 17 + round * 7 + at + at / 251);
}

static void fill(unsigned char* data, int bytes, int from, int to, int round) {
  for (int i = 0; i < bytes; ++i) data[i] = byte_of(from, to, round, i);
}

static void check(const unsigned char* data, int bytes, int from, int to, int round,
                  const char* what) {
  for (int i = 0; i < bytes; ++i) {
    if (data[i] == byte_of(from, to, round, i)) continue;
    printf("wrong byte %d of %d: %s from %d to %d, round %d\n", i, bytes, what, from, to, round);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 77);
  }
}

static void messages(unsigned char* out, unsigned char* in, int round) {
  static const int sizes[] = {8, 3000, kMost};
  const int bytes = sizes[round % 3];
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size, from = (rank + size - step) % size;
    fill(out, bytes, rank, to, round);
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, step, in, bytes, MPI_BYTE, from, step, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in, bytes, from, rank, round, "a message");
  }
}

static void collectives(unsigned char* out, unsigned char* in, int round) {
  for (int to = 0; to < size; ++to) fill(out + to * kBlock, kBlock, rank, to, round);
  MPI_Alltoall(out, kBlock, MPI_BYTE, in, kBlock, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    check(in + from * kBlock, kBlock, from, rank, round, "an all-to-all");
  const int root = round % size;
  if (rank == root) fill(out, kMost, root, size, round);
  MPI_Bcast(out, kMost, MPI_BYTE, root, MPI_COMM_WORLD);
  check(out, kMost, root, size, round, "a broadcast");
  long mine = rank + round, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (sum != (long)size * round + (long)size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 77);
}

static void window(MPI_Win win, unsigned char* mine, unsigned char* out, int round) {
  const int to = (rank + size / 2) % size, from = (rank + size - size / 2) % size;
  fill(out, kPiece, rank, to, round);
  MPI_Win_fence(0, win);
  MPI_Put(out, kPiece, MPI_BYTE, to, 0, kPiece, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  check(mine, kPiece, from, rank, round, "a window");
}

static void file(MPI_File handle, unsigned char* out, unsigned char* in, int round) {
  const int other = (rank + 1) % size;
  fill(out, kPiece, rank, -1, round);
  MPI_File_write_at_all(handle, (MPI_Offset)rank * kPiece, out, kPiece, MPI_BYTE,
                        MPI_STATUS_IGNORE);
  MPI_File_sync(handle);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at_all(handle, (MPI_Offset)other * kPiece, in, kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
  check(in, kPiece, other, -1, round, "a file");
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each of the first ranks has a child, which sends back what it gets. */
static void with_children(MPI_Comm children, unsigned char* out, unsigned char* in, int round) {
  if (rank >= kChildren) return;
  fill(out, kBlock, rank, -2, round);
  MPI_Sendrecv(out, kBlock, MPI_BYTE, rank, 0, in, kBlock, MPI_BYTE, rank, 0, children,
               MPI_STATUS_IGNORE);
  check(in, kBlock, rank, -2, round, "a child's message");
}

static int child(MPI_Comm parents) {
  static unsigned char data[kBlock];
  for (;;) {
    MPI_Status status;
    int bytes;
    MPI_Recv(data, kBlock, MPI_BYTE, MPI_ANY_SOURCE, 0, parents, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes == 0) break;
    MPI_Send(data, bytes, MPI_BYTE, status.MPI_SOURCE, 0, parents);
  }
  MPI_Comm_disconnect(&parents);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parents, children = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return child(parents);
  unsigned char *out = malloc(kMost), *in = malloc(kMost), *mine;
  MPI_Win win;
  MPI_Win_allocate(kPiece, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_File handle;
  if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                    &handle) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 78);
  }
  MPI_File_set_errhandler(handle, MPI_ERRORS_ARE_FATAL); /* a full disk */
  if (argc > 3) {
    char* words[] = {argv[1], argv[2], NULL};
    MPI_Comm_spawn(argv[0], words, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  }
  double told = 0;
  for (int round = 0, over = 0; !over; ++round) {
    messages(out, in, round);
    collectives(out, in, round);
    window(win, mine, out, round);
    if (round % 8 == 0) file(handle, out, in, round);
    if (children != MPI_COMM_NULL) with_children(children, out, in, round);
    if (rank == 0 && MPI_Wtime() - told > 0.2) {
      told = MPI_Wtime();
      printf("round %d\n", round);
      fflush(stdout);
    }
    over = rank == 0 && access(argv[1], F_OK) == 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    usleep(20000);
  }
  if (children != MPI_COMM_NULL) {
    if (rank < kChildren) MPI_Send(out, 0, MPI_BYTE, rank, 0, children);
    MPI_Comm_disconnect(&children);
  }
  MPI_File_close(&handle);
  MPI_Win_free(&win);
  if (rank == 0) puts("every byte right");
  MPI_Finalize();
  return 0;
}
