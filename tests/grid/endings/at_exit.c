/* Handlers of exit() call MPI after main, and so does a destructor, which comes last. The handlers
 * were registered before MPI_Init and after it. With argument `late` the destructor calls
 * MPI_Finalize. Otherwise main calls it, and the handlers and the destructor ask whether it did. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 300000 };
static int late;

/* Messages and a collective of data that is packed. */
static void communicate(const char* where) {
  static char out[2 * kBytes], in[2 * kBytes];
  int rank, size, sum = 0, one = 1, bad = 0;
  MPI_Datatype every_second;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_vector(kBytes, 1, 2, MPI_BYTE, &every_second);
  MPI_Type_commit(&every_second);
  const int to = (rank + 1) % size, from = (rank - 1 + size) % size;
  memset(out, rank + 1, sizeof out);
  memset(in, 0, sizeof in);
  MPI_Sendrecv(out, 1, every_second, to, 1, in, 1, every_second, from, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Type_free(&every_second);
  for (int i = 0; i < kBytes; ++i) bad |= in[2 * i] != from + 1 || in[2 * i + 1] != 0;
  if (!bad && sum == size) return;
  fprintf(stderr, "rank %d, %s: wrong data, or %d is not %d\n", rank, where, sum, size);
  _exit(1);
}

static void expect_ended(const char* where, int wanted) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && ended == wanted) return;
  fprintf(stderr, "%s: MPI_Initialized says %d, MPI_Finalized %d\n", where, begun, ended);
  _exit(1);
}

static void at_exit(void) {
  expect_ended("a handler of exit()", !late);
  if (late) communicate("a handler of exit()");
}

__attribute__((destructor)) static void in_the_end(void) {
  expect_ended("a destructor", !late);
  if (!late) return;
  communicate("a destructor");
  MPI_Finalize();
  expect_ended("a destructor", 1);
}

int main(int argc, char** argv) {
  late = argc > 1 && strcmp(argv[1], "late") == 0;
  atexit(at_exit);
  MPI_Init(&argc, &argv);
  atexit(at_exit);
  communicate("main");
  if (!late) MPI_Finalize();
  return 0;
}
