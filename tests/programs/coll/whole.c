/* Operations that do not commute may treat a vector as one thing, here a sorted list behind its
   length. They get the whole vector, as under native libraries. ranks: 4 5 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 2050 };

static int whole;

static void merge(void* in, void* inout, int* length, MPI_Datatype* type) {
  const int* a = in;
  int* b = inout;
  int out[MOST], n = 0, i = 1, j = 1;
  (void)type;
  CHECK(*length == whole, "an operation on %d ints got %d of them", whole, *length);
  while (i <= a[0] || j <= b[0]) {
    out[++n] = j > b[0] || (i <= a[0] && a[i] < b[j]) ? a[i++] : b[j++];
  }
  out[0] = n;
  memcpy(b, out, (size_t)(n + 1) * sizeof(int));
}

/* The list holds ranks 0 to `last` but each third. */
static void check_list(const int* list, int last, const char* what) {
  int n = 0;
  for (int rank = 0; rank <= last; ++rank) {
    if (rank % 3 == 1) continue;
    ++n;
    CHECK(list[n] == rank, "%s of %d ints: place %d has %d, not %d", what, whole, n, list[n], rank);
  }
  CHECK(list[0] == n, "%s of %d ints: %d in the list, not %d", what, whole, list[0], n);
}

int main(int argc, char** argv) {
  static int in[MOST], out[MOST];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op op;
  MPI_Op_create(merge, 0, &op);
  for (whole = size + 1; whole <= MOST; whole = whole * 5 / 3) {
    in[0] = rank % 3 != 1;
    in[1] = rank;
    MPI_Allreduce(in, out, whole, MPI_INT, op, MPI_COMM_WORLD);
    check_list(out, size - 1, "allreduce");
    MPI_Reduce(in, out, whole, MPI_INT, op, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1) check_list(out, size - 1, "reduce");
    MPI_Scan(in, out, whole, MPI_INT, op, MPI_COMM_WORLD);
    check_list(out, rank, "scan");
    MPI_Exscan(in, out, whole, MPI_INT, op, MPI_COMM_WORLD);
    if (rank > 0) check_list(out, rank - 1, "exscan");
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
