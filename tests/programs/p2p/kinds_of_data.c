/* Large messages of data that shrink unlike well: random bytes, smooth doubles, floats, integers
   that count, mostly zeros, text; in turns and in any order. ranks: 2
   `kinds_of_data MIB KIND` sends MIB MiB of one kind, and rank 0 prints MB/s. */
#include <stdint.h>

#include "p2p.h"

enum { kRandom, kDoubles, kFloats, kCounting, kSparse, kText, kNumKinds };
enum { kBytes = 1 << 20, kRounds = 60 };

static char expected[kNumKinds][kBytes], got[kBytes];

static void make(void) {
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < kBytes; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    expected[kRandom][i] = (char)(state >> 32);
    expected[kSparse][i] = (char)(i % 97 == 0 ? state >> 40 : 0);
    expected[kText][i] = "the quick brown fox jumps over the lazy dog\n"[(i + (i >> 9)) % 44];
  }
  double at = 0, speed = 1e-3; /* a pendulum */
  for (int i = 0; i < kBytes / 8; ++i) {
    at += speed, speed -= 1e-6 * at;
    const float single = (float)at;
    const int count = 7 * i;
    memcpy(expected[kDoubles] + 8 * i, &at, 8);
    memcpy(expected[kFloats] + 4 * i, &single, 4);
    memcpy(expected[kFloats] + kBytes / 2 + 4 * i, &single, 4);
    memcpy(expected[kCounting] + 4 * i, &count, 4);
    memcpy(expected[kCounting] + kBytes / 2 + 4 * i, &count, 4);
  }
}

static void timed(int mib, int kind) {
  const double start = MPI_Wtime();
  for (int i = 0; i < mib; ++i) {
    if (rank == 0) MPI_Send(expected[kind], kBytes, MPI_BYTE, 1, kind, WORLD);
    if (rank == 1) MPI_Recv(got, kBytes, MPI_BYTE, 0, kind, WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(WORLD);
  if (rank == 0) printf("%.1f\n", mib * (kBytes / 1e6) / (MPI_Wtime() - start));
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  make();
  if (argc == 3) {
    timed(atoi(argv[1]), atoi(argv[2]));
  } else {
    for (int i = 0; i < kRounds; ++i) {
      const int kind = i < kRounds / 2 ? i % kNumKinds : i * 7 / 10 % kNumKinds;
      const int peer = (rank + size / 2) % size;
      MPI_Status status;
      memset(got, 0, kBytes);
      MPI_Sendrecv(expected[kind], kBytes - i, MPI_BYTE, peer, i, got, kBytes, MPI_BYTE, peer, i,
                   WORLD, &status);
      check_status(&status, peer, i, kBytes - i, MPI_BYTE, "kind");
      CHECK(memcmp(got, expected[kind], (size_t)(kBytes - i)) == 0, "round %d, kind %d differs", i,
            kind);
    }
  }
  return finish("kinds_of_data");
}
