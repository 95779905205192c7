/* Reductions in one order over ranks. Each rank computes the tree over ranks itself, and wants the
   same bits. The communicators ask for it by an info key. The argument "asked" means that the run
   asks. Then the program prints its results. ranks: 2 3 5 */
#include <stdint.h>

#include "check.h"

enum { kMost = 6000 };

static int asked;

/* Element i of a rank: of magnitudes from 2^-20 to 2^20. */
static double element(int rank, int i) {
  uint64_t bits =
      (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15u + (uint64_t)(i + 1) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 31)) * 0x94D049BB133111EBu;
  bits ^= bits >> 29;
  double value = (double)(bits >> 12) / 4503599627370496.0 - 0.5;
  for (unsigned k = bits % 21; k > 0; --k) value *= 4;
  return value / (1 << 20);
}

/* The left child of a node has as many ranks as the largest power of two below their number. */
static double tree(int first, int last, int i) {
  if (last - first == 1) return element(first, i);
  int left = 1;
  while (2 * left < last - first) left *= 2;
  const volatile double low = tree(first, first + left, i), high = tree(first + left, last, i);
  return low + high;
}

/* x -> a x + b: it does not commute. With doubles it is not associative either. */
static void then(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const double* left = in;
  double* right = inout;
  for (int i = 0; i < *length; ++i, left += 2, right += 2) {
    const volatile double scaled = right[0] * left[1];
    right[1] = scaled + right[1];
    right[0] = left[0] * right[0];
  }
}
static void mapped(int first, int last, double* result) {
  result[0] = element(first, 0), result[1] = element(first, 1);
  if (last - first == 1) return;
  int left = 1, one = 1;
  while (2 * left < last - first) left *= 2;
  double low[2];
  mapped(first, first + left, low);
  mapped(first + left, last, result);
  then(low, result, &one, NULL);
}

static void same(const double* got, int ranks, int at, int count, const char* what) {
  for (int i = 0; i < count; ++i) {
    const double want = tree(0, ranks, at + i);
    CHECK(memcmp(&got[i], &want, sizeof want) == 0, "%s: element %d of %d is %a, not %a", what, i,
          count, got[i], want);
  }
}

static void of_count(MPI_Comm comm, int count) {
  static double in[kMost], out[kMost];
  int rank, size, counts[64], begin = 0, all = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < count; ++i) in[i] = element(rank, i);
  const int root = (count + 1) % size;

  memset(out, 0, sizeof out);
  RUN(Allreduce, Iallreduce, in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  same(out, size, 0, count, "allreduce");
  memcpy(out, in, sizeof out);
  RUN(Allreduce, Iallreduce, MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, comm);
  same(out, size, 0, count, "allreduce in place");

  memcpy(out, in, sizeof out);
  const void* const given = rank == root ? MPI_IN_PLACE : in;
  RUN(Reduce, Ireduce, given, out, count, MPI_DOUBLE, MPI_SUM, root, comm);
  if (rank == root) same(out, size, 0, count, "reduce");

  RUN(Scan, Iscan, in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  same(out, rank + 1, 0, count, "scan");
  RUN(Exscan, Iexscan, in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  if (rank > 0) same(out, rank, 0, count, "exscan");

  for (int r = 0; r < size; ++r) {
    counts[r] = (r * 2 + 1) % 4 * count / (4 * size);
    if (r < rank) begin += counts[r];
    all += counts[r];
  }
  CHECK(all <= count, "%d blocks of %d", all, count);
  RUN(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_DOUBLE, MPI_SUM, comm);
  same(out, size, begin, counts[rank], "reduce_scatter");
  const int each = count / size;
  RUN(Reduce_scatter_block, Ireduce_scatter_block, in, out, each, MPI_DOUBLE, MPI_SUM, comm);
  same(out, size, rank * each, each, "reduce_scatter_block");
}

/* Several at a time, among the program's own collectives on the communicator. */
static void outstanding(MPI_Comm comm) {
  enum { kEach = 700, kTimes = 4 };
  static double in[kEach], out[kTimes][kEach];
  MPI_Request requests[2 * kTimes];
  int rank, size, told[kTimes];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < kEach; ++i) in[i] = element(rank, i);
  for (int t = 0; t < kTimes; ++t) {
    told[t] = rank == size - 1 ? t : -1;
    MPI_Iallreduce(in, out[t], kEach, MPI_DOUBLE, MPI_SUM, comm, &requests[2 * t]);
    MPI_Ibcast(&told[t], 1, MPI_INT, size - 1, comm, &requests[2 * t + 1]);
    MPI_Barrier(comm);
  }
  MPI_Waitall(2 * kTimes, requests, MPI_STATUSES_IGNORE);
  for (int t = 0; t < kTimes; ++t) {
    same(out[t], size, 0, kEach, "iallreduce");
    CHECK(told[t] == t, "a broadcast gave %d, not %d", told[t], t);
  }
}

static void of_maps(MPI_Comm comm) {
  int rank, size;
  double in[2], got[2], want[2];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  in[0] = element(rank, 0), in[1] = element(rank, 1);
  mapped(0, size, want);
  MPI_Datatype map;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_DOUBLE, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(then, 0, &op);
  RUN(Allreduce, Iallreduce, in, got, 1, map, op, comm);
  CHECK(memcmp(got, want, sizeof got) == 0, "the program's operation gives %a %a, not %a %a",
        got[0], got[1], want[0], want[1]);
  MPI_Op_free(&op);
  MPI_Type_free(&map);
}

static MPI_Comm reproducible(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Info info;
  MPI_Comm_dup(comm, &made);
  if (asked) return made;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_reproducible", "true");
  MPI_Comm_set_info(made, info);
  MPI_Info_free(&info);
  return made;
}

static void test(MPI_Comm parent) {
  MPI_Comm comm = reproducible(parent), copy;
  for (mode = 0; mode < MODES; ++mode) {
    const int counts[] = {0, 1, 7, mode == 0 ? kMost : 300};
    for (int c = 0; c < 4; ++c) of_count(comm, counts[c]);
    of_maps(comm);
  }
  outstanding(comm);
  MPI_Comm_dup(comm, &copy); /* asks for it, too */
  mode = 1;
  of_count(copy, 40);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

/* The communicator is freed while its first reduction is under way. */
static void freed_early(void) {
  double in = element(0, 3), out = 0;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = element(rank, 0);
  MPI_Comm comm = reproducible(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  same(&out, size, 0, 1, "on a communicator that is freed");
}

static void show(void) {
  static double in[kMost], out[kMost];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kMost; ++i) in[i] = element(rank, i);
  MPI_Reduce(in, out, kMost, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  uint64_t mark = 0, bits;
  for (int i = 0; i < kMost; ++i) {
    memcpy(&bits, &out[i], sizeof bits);
    mark = mark * 1000003 + bits;
  }
  if (rank == 0) printf("the sums are %016llx\n", (unsigned long long)mark);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  asked = argc > 1 && strcmp(argv[1], "asked") == 0;
  on_communicators(test);
  freed_early();
  if (asked) show();
  return finish("reproducible");
}
