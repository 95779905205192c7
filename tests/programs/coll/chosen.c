/* Algorithms of collectives asked for by the info key isthmus_coll, over derived datatypes, an
   operation that does not commute, and interleaved ranks. ranks: 2 5 8 */
#include "check.h"

static const char* const kTexts[] = {
    "bcast=direct,allreduce=fan,reduce=magpie",
    "bcast=chained,allreduce=rabenseifner,reduce=rabenseifner",
    "bcast=striped:segment=1K,allreduce=pipelined:segment=2K,reduce=striped:segment=512",
    "bcast=auto,allreduce=auto,reduce=auto",
};

/* x -> a x + b, composed: order matters. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  unsigned *l = in, *r = inout;
  for (int i = 0; i < 2 * *count; i += 2) {
    r[i + 1] += r[i] * l[i + 1];
    r[i] *= l[i];
  }
}

static void fill_pairs(unsigned* pairs, int count, int rank) {
  for (int i = 0; i < count; ++i) {
    pairs[2 * i] = 2u * (unsigned)rank + 3u;
    pairs[2 * i + 1] = (unsigned)(i * 31 + rank);
  }
}

static void try_all(MPI_Comm comm, int count, MPI_Op op, MPI_Datatype pair) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t bytes = 2 * sizeof(unsigned) * (size_t)count;
  unsigned *mine = malloc(bytes + 1), *out = malloc(bytes + 1), *want = malloc(bytes + 1),
           *other = malloc(bytes + 1);
  fill_pairs(want, count, 0);
  for (int r = 1; r < size; ++r) {
    fill_pairs(other, count, r);
    compose(want, other, &count, &pair);
    memcpy(want, other, bytes);
  }
  fill_pairs(mine, count, rank);
  doing = "MPI_Allreduce";
  memset(out, 0, bytes);
  MPI_Allreduce(mine, out, count, pair, op, comm);
  CHECK(memcmp(out, want, bytes) == 0, "wrong result of %d elements", count);
  memcpy(out, mine, bytes);
  MPI_Allreduce(MPI_IN_PLACE, out, count, pair, op, comm);
  CHECK(memcmp(out, want, bytes) == 0, "wrong result of %d elements in place", count);
  for (int root = 0; root < size; root += 3) {
    doing = "MPI_Reduce";
    memset(out, 0, bytes);
    MPI_Reduce(mine, out, count, pair, op, root, comm);
    CHECK(rank != root || memcmp(out, want, bytes) == 0, "wrong result of %d elements", count);
    doing = "MPI_Bcast";
    fill_pairs(other, count, root);
    memcpy(out, rank == root ? other : want, bytes);
    MPI_Request request;
    MPI_Ibcast(out, count, pair, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(memcmp(out, other, bytes) == 0, "wrong data of %d elements", count);
  }
  free(mine), free(out), free(want), free(other);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  MPI_Comm dealt;
  MPI_Comm_split(MPI_COMM_WORLD, 0, (rank * 7) % 16, &dealt);
  const MPI_Comm parents[] = {MPI_COMM_WORLD, dealt};
  const char* const names[] = {"MPI_COMM_WORLD", "ranks dealt otherwise"};
  for (int p = 0; p < 2; ++p) {
    trying = names[p];
    for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; ++i) {
      with = kTexts[i];
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "isthmus_coll", kTexts[i]);
      MPI_Comm comm;
      if (i % 2 == 0) {
        MPI_Comm_dup_with_info(parents[p], info, &comm);
      } else {
        MPI_Comm_dup(parents[p], &comm);
        MPI_Comm_set_info(comm, info);
      }
      MPI_Info_free(&info);
      try_all(comm, 0, op, pair);
      try_all(comm, 1, op, pair);
      try_all(comm, 3001, op, pair);
      MPI_Comm_free(&comm);
    }
  }
  if (spans_clusters(MPI_COMM_WORLD)) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "isthmus_coll", "bcast=magic");
    MPI_Comm_set_errhandler(dealt, MPI_ERRORS_RETURN);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    const int code = MPI_Comm_set_info(dealt, info);
    trying = "a communicator", doing = "MPI_Comm_set_info", with = "bcast=magic";
    CHECK(code != MPI_SUCCESS, "accepted");
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "chained") != NULL, "the message lists no names: %s", text);
    MPI_Info_free(&info);
  }
  MPI_Comm_free(&dealt);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
