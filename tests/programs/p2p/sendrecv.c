/* Send and receive at once: rings, in one buffer, with MPI_PROC_NULL and wildcards, small and
   larger than any window. ranks: 2 3 4 */
#include "p2p.h"

static void ring(int n, int distance, int wild) {
  const int to = (rank + distance) % size, from = (rank - distance + size) % size;
  int *out = calloc((size_t)n, sizeof(int)), *in = calloc((size_t)n, sizeof(int));
  MPI_Status status;
  fill(out, n, rank, to, distance);
  MPI_Sendrecv(out, n, MPI_INT, to, 5, in, n, MPI_INT, wild ? MPI_ANY_SOURCE : from, 5, WORLD,
               &status);
  check_status(&status, from, 5, n, MPI_INT, "MPI_Sendrecv");
  check_data(in, n, from, rank, distance, "MPI_Sendrecv");
  all_here(6);
  MPI_Sendrecv_replace(out, n, MPI_INT, to, 5, wild ? MPI_ANY_SOURCE : from, 5, WORLD, &status);
  check_status(&status, from, 5, n, MPI_INT, "MPI_Sendrecv_replace");
  check_data(out, n, from, rank, distance, "MPI_Sendrecv_replace");
  all_here(6);
  free(out), free(in);
}

static void gaps(void) {
  const int to = (rank + 1) % size, from = (rank - 1 + size) % size;
  MPI_Datatype type;
  int data[9];
  MPI_Type_vector(3, 2, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 9; ++i) data[i] = rank * 100 + i;
  MPI_Sendrecv_replace(data, 1, type, to, 7, from, 7, WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 9; ++i) {
    const int owner = i % 3 == 2 ? rank : from;
    CHECK(data[i] == owner * 100 + i, "MPI_Sendrecv_replace with gaps: place %d holds %d", i,
          data[i]);
  }
  MPI_Type_free(&type);
}

static void ends(void) {
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int out = rank, in = -1;
  MPI_Status status;
  MPI_Sendrecv(&out, 1, MPI_INT, up, 8, &in, 1, MPI_INT, down, 8, WORLD, &status);
  CHECK(in == rank - 1, "a shift gave %d", in);
  CHECK(status.MPI_SOURCE == down, "a shift's status has source %d", status.MPI_SOURCE);
  out = rank;
  MPI_Sendrecv_replace(&out, 1, MPI_INT, down, 8, up, 8, WORLD, &status);
  CHECK(out == (rank + 1 < size ? rank + 1 : rank), "a shift in one buffer gave %d", out);
  CHECK(status.MPI_SOURCE == up, "a shift's status has source %d", status.MPI_SOURCE);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int distance = 1; distance < size; ++distance)
    for (int wild = 0; wild < 2; ++wild) {
      ring(3, distance, wild);
      ring(600000, distance, wild);
    }
  gaps();
  ends();
  return finish("sendrecv");
}
