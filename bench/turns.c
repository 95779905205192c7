/* Pingpongs of two pairs of ranks in turns: half round trips, in microseconds.
 * Usage: turns BYTES ROUNDS TURNS FILE [alone]. Ranks 0 and 1, and 2 and 3, are on one host. Each
 * pair prints a line for each of its turns but the first: its number and the least mean of BLOCK
 * rounds. Some blocks this short are undisturbed even on a busy host. `alone`: the first of a pair
 * sends whole messages to itself, and the other rests. A pair's time depends on the place of its
 * memory, too (MPICH 4.0: pairs of one run differ by up to a fifth, 2026-11). Ranks without a turn
 * sleep outside MPI, and look at FILE, which holds the number of finished turns. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAP = 200 /* microseconds */, BLOCK = 200 };

/* Each pair uses the host's first two cores. */
static void bind(int second) {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof all, &all);
  for (int core = 0, left = second; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all) || left-- > 0) continue;
    CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    return;
  }
}

static void play(char* buffer, int bytes, int rank, int peer) {
  if (rank < peer) MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  MPI_Recv(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank > peer) MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void play_alone(char* buffer, int bytes, int rank) {
  MPI_Request request;
  MPI_Irecv(buffer + bytes, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &request);
  MPI_Send(buffer, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int alone = argc == 6 && strcmp(argv[5], "alone") == 0;
  const int file = argc == 5 + alone ? open(argv[4], O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof(int)) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  volatile int* over = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (over == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[1]), rounds = atoi(argv[2]), turns = 2 * atoi(argv[3]);
  char* buffer = calloc((size_t)bytes * 2 + 1, 1);
  const int pair = rank / 2, peer = rank ^ 1;
  if (pair < 2) bind(rank % 2);
  for (int turn = pair; pair < 2 && turn < turns; turn += 2) {
    while (*over < turn) usleep(NAP);
    if (alone && rank > peer) continue;
    double start = MPI_Wtime(), least = 1e9;
    for (int i = 0; i < rounds; ++i) {
      if (i > 0 && i % BLOCK == 0) {
        const double now = MPI_Wtime();
        if (now - start < least) least = now - start;
        start = now;
      }
      if (alone) {
        play_alone(buffer, bytes, rank);
      } else {
        play(buffer, bytes, rank, peer);
      }
    }
    if (rank > peer) continue;
    if (turn > 1) printf("%d %.5f\n", pair, least / BLOCK / (alone ? 1 : 2) * 1e6);
    *over = turn + 1;
  }
  while (*over < turns) usleep(NAP);
  free(buffer);
  MPI_Finalize();
  return 0;
}
