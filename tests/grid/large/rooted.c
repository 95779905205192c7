/* A gather and a scatter in which one cluster's part is over 2 GiB, beside a short block that
   begins beyond what an int can count. Counts fit an int. Meant for ISTHMUS_COLL=gather=magpie,
   scatter=magpie, where the leader collects its cluster's blocks. */
#include "../../programs/p2p/p2p.h"

enum { kLong = 280 * 1000 * 1000, kShort = 1000, kSample = 4999 };

static double value(int owner, size_t place) { return owner * 1e9 + (double)place; }

static size_t count_of(int owner) {
  return owner == size - 2 ? kLong : owner == size - 1 ? kShort : 0;
}

static void set(double* data, int owner) {
  for (size_t i = 0; i < count_of(owner); i += kSample) data[i] = value(owner, i);
  if (count_of(owner) > 0) data[count_of(owner) - 1] = value(owner, count_of(owner) - 1);
}

static void check(const double* data, int owner, const char* what) {
  const size_t n = count_of(owner);
  for (size_t i = 0; i < n; i += kSample)
    CHECK(data[i] == value(owner, i), "%s: element %zu of rank %d is %g", what, i, owner, data[i]);
  CHECK(n == 0 || data[n - 1] == value(owner, n - 1), "%s: the last of rank %d is wrong", what,
        owner);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(size == 4, "this program is for four ranks");
  int counts[4], places[4], place = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = (int)count_of(r);
    places[r] = place;
    place += counts[r];
  }
  double* mine = malloc(sizeof(double) * (count_of(rank) + 1));
  double* all = rank == 0 ? malloc(sizeof(double) * (size_t)place) : NULL;
  set(mine, rank);
  MPI_Gatherv(mine, counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, WORLD);
  for (int r = 0; rank == 0 && r < size; ++r) check(all + places[r], r, "MPI_Gatherv");
  memset(mine, 0, sizeof(double) * count_of(rank));
  MPI_Scatterv(all, counts, places, MPI_DOUBLE, mine, counts[rank], MPI_DOUBLE, 0, WORLD);
  check(mine, rank, "MPI_Scatterv");
  free(mine), free(all);
  return finish("rooted");
}
