/* Shared by the kernels: their class, the random numbers of the NAS report (Bailey et al., "The NAS
 * Parallel Benchmarks", RNR-94-007), the time, and the verdict.
 *
 * A kernel is called with its class (S, W, A or B). Rank 0 prints three lines: what ran, `time: N
 * s` and `verified: yes` or `no`. The time is from a barrier until the last rank was done. The exit
 * status is 0 when the result was verified.
 *
 * Where a kernel says that a value is published, it is that of the report or of the NAS Parallel
 * Benchmarks 2 and 3. In 2026-11 these kernels computed all of them, but for class B of LU, BT
 * and SP, which were not run. */
#ifndef ISTHMUS_NAS_H
#define ISTHMUS_NAS_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 4 };
static const char CLASS_NAMES[CLASSES + 1] = "SWAB";

static int rank, ranks;
static int class_number; /* of CLASS_NAMES */
static const char* kernel_name;
static double began;

/* -- the end of a run that cannot be ------------------------------------------------------------
 */

static void refuse(const char* text) {
  if (rank == 0) fprintf(stderr, "%s: %s\n", kernel_name, text);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  exit(2);
}

/* Zeroed. Aborts if memory runs out. */
static inline void* need(size_t count, size_t bytes) {
  void* found = calloc(count ? count : 1, bytes);
  if (found == NULL) {
    fprintf(stderr, "%s: no memory for %zu times %zu bytes\n", kernel_name, count, bytes);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return found;
}

/* -- begin and end ------------------------------------------------------------------------------
 */

static void begin(int* argc, char*** argv, const char* name) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  kernel_name = name;
  const char* class = *argc == 2 && strlen((*argv)[1]) == 1 ? (*argv)[1] : "?";
  const char* found = strchr(CLASS_NAMES, class[0]);
  if (found == NULL) refuse("give one class: S, W, A or B");
  class_number = (int)(found - CLASS_NAMES);
}

/* For kernels that halve: the exponent of 2 that gives `ranks`. */
static inline int need_power_of_two(int most) {
  char text[120];
  int power = 0;
  while (1 << power < ranks) ++power;
  if (1 << power != ranks) {
    snprintf(text, sizeof text, "runs on 1, 2, 4, 8... ranks; there are %d", ranks);
    refuse(text);
  }
  if (ranks > most) {
    snprintf(text, sizeof text, "class %c has work for %d ranks at most; there are %d",
             CLASS_NAMES[class_number], most, ranks);
    refuse(text);
  }
  return power;
}

/* Before that all ranks hear of all others, so that no connection is opened while the clock runs.
 */
static void start_clock(void) {
  int* all = need((size_t)ranks * 2, sizeof(int));
  MPI_Alltoall(all, 1, MPI_INT, all + ranks, 1, MPI_INT, MPI_COMM_WORLD);
  free(all);
  MPI_Barrier(MPI_COMM_WORLD);
  began = MPI_Wtime();
}

/* The seconds since start_clock, of the slowest rank; on rank 0 alone. */
static double stop_clock(void) {
  const double mine = MPI_Wtime() - began;
  double slowest = mine;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

/* Ends the program; `seconds` and `verified` count on rank 0. */
static int finish(double seconds, int verified) {
  MPI_Bcast(&verified, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s, class %c, %d rank%s\ntime: %.6f s\nverified: %s\n", kernel_name,
           CLASS_NAMES[class_number], ranks, ranks > 1 ? "s" : "", seconds,
           verified ? "yes" : "no");
    fflush(stdout);
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}

/* Whether `value` is the published one but for a relative error; says so where it is not. */
static inline int agrees(const char* what, double value, double published, double error) {
  if (fabs(value - published) <= error * fabs(published)) return 1;
  fprintf(stderr, "%s: %s is %.15e, but should be %.15e\n", kernel_name, what, value, published);
  return 0;
}

/* -- random numbers -----------------------------------------------------------------------------
 */

/* x(k+1) = a x(k) mod 2^46; the number is x / 2^46. 2^46 divides 2^64, so unsigned overflow does no
 * harm. */
static const uint64_t MODULUS_MASK = (UINT64_C(1) << 46) - 1;
static const uint64_t FIVE_TO_13 = 1220703125;

static inline uint64_t times(uint64_t a, uint64_t x) { return (a * x) & MODULUS_MASK; }

/* The next number, between 0 and 1. */
static inline double draw(uint64_t* x) {
  *x = times(FIVE_TO_13, *x);
  return (double)*x * (1.0 / (double)(UINT64_C(1) << 46));
}

/* The state after `count` numbers beyond `x`. */
static inline uint64_t skip(uint64_t x, uint64_t count) {
  for (uint64_t a = FIVE_TO_13; count; count >>= 1, a = times(a, a))
    if (count & 1) x = times(a, x);
  return x;
}

/* Share `index` of `count` things among `shares`: the first ones take one more. */
static inline int64_t share_begin(int64_t count, int64_t shares, int64_t index) {
  const int64_t each = count / shares, rest = count % shares;
  return index * each + (index < rest ? index : rest);
}

#endif
