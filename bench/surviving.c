/* Measures how long survivors wait: surviving FILE. The last rank writes the time to FILE, and
   kills itself. The others revoke and shrink. Rank 0 prints one line of times. They are seconds of
   the clock that all hosts of a lab share. The line has the number of survivors, and the times when
   the first and the last got the error. Two times follow for each of two shrinks: the last survivor
   begins, and the last has the new communicator. */
#include <isthmus.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { LAST_STEP = 50, TIMES = 5 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void die(const char* path) {
  FILE* const file = fopen(path, "w");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 2);
  fprintf(file, "%.6f\n", now());
  fclose(file);
  raise(SIGKILL);
}

static void shrink(MPI_Comm* comm, double* begun, double* made) {
  MPI_Comm smaller;
  *begun = now();
  if (isthmus_comm_shrink(*comm, &smaller) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  *made = now();
  MPI_Comm_free(comm);
  *comm = smaller;
}

int main(int argc, char** argv) {
  int rank, size, one = 1, sum;
  double seen[TIMES], first, last[TIMES];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int step = 0; !MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm); ++step) {
    if (step == LAST_STEP && rank == size - 1) die(argv[1]);
  }
  seen[0] = now();
  isthmus_comm_revoke(comm);
  shrink(&comm, &seen[1], &seen[2]);
  MPI_Barrier(comm);
  shrink(&comm, &seen[3], &seen[4]);
  MPI_Reduce(seen, &first, 1, MPI_DOUBLE, MPI_MIN, 0, comm);
  MPI_Reduce(seen, last, TIMES, MPI_DOUBLE, MPI_MAX, 0, comm);
  MPI_Comm_size(comm, &size);
  if (rank == 0) {
    printf("%d %.6f %.6f %.6f %.6f %.6f %.6f\n", size, first, last[0], last[1], last[2], last[3],
           last[4]);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
