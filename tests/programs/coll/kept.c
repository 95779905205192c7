/* A non-blocking or persistent reduction keeps what it needs when the program frees it. An
   operation of the program gets the program's own datatype. The standard lets it look at handle,
   attributes and name. */
#include <stddef.h>

#include "check.h"

static int world_rank, world_size;

typedef struct {
  double value;
  int rank;
} Pair;

static MPI_Datatype pair;
static int key, calls;

static void larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Pair* a = in;
  Pair* b = inout;
  void* value = NULL;
  int found = 0, length = 0;
  char name[MPI_MAX_OBJECT_NAME] = "";
  ++calls;
  MPI_Type_get_attr(*type, key, &value, &found);
  CHECK(found && value == &key, "the datatype that the operation got lacks its attribute");
  MPI_Type_get_name(*type, name, &length);
  CHECK(strcmp(name, "pair") == 0, "the datatype that the operation got is called \"%s\"", name);
  CHECK(pair == MPI_DATATYPE_NULL || *type == pair, "the operation got another datatype handle");
  for (int i = 0; i < *count; ++i)
    if (a[i].value > b[i].value) b[i] = a[i];
}

static void make_pair(void) {
  int lengths[] = {1, 1};
  MPI_Aint places[] = {offsetof(Pair, value), offsetof(Pair, rank)};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT}, packed;
  MPI_Type_create_struct(2, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(Pair), &pair);
  MPI_Type_free(&packed);
  MPI_Type_commit(&pair);
  MPI_Type_set_name(pair, "pair");
  MPI_Type_set_attr(pair, key, &key);
}

static void check_result(const Pair* result, const char* what) {
  int all = 0;
  MPI_Allreduce(&calls, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all > 0, "%s: no operation was called", what);
  CHECK(result[0].rank == world_size - 1, "%s: the largest is of rank %d", what, result[0].rank);
  CHECK(result[1].rank == 0, "%s: the largest negated is of rank %d", what, result[1].rank);
  calls = 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Op op;
  MPI_Op_create(larger, 1, &op);
  make_pair();
  Pair in[2] = {{world_rank, world_rank}, {-world_rank, world_rank}}, out[2];
  MPI_Request request;

  MPI_Allreduce(in, out, 2, pair, op, MPI_COMM_WORLD);
  check_result(out, "MPI_Allreduce");
  MPI_Iallreduce(in, out, 2, pair, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_result(out, "MPI_Iallreduce");

#if HAVE_PERSISTENT
  MPI_Allreduce_init(in, out, 2, pair, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&pair);
#endif
  for (int i = 0; i < 2; ++i) {
#if HAVE_PERSISTENT
    MPI_Start(&request);
#else
    MPI_Iallreduce(in, out, 2, pair, op, MPI_COMM_WORLD, &request);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_result(out, "a persistent reduction");
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  if (pair == MPI_DATATYPE_NULL) make_pair();

  /* Several at a time; their handles go first, and new ones come. */
  enum { kMany = 4 };
  Pair results[kMany][2];
  MPI_Request requests[kMany];
  for (int i = 0; i < kMany; ++i)
    MPI_Iallreduce(in, results[i], 2, pair, op, MPI_COMM_WORLD, &requests[i]);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  CHECK(pair == MPI_DATATYPE_NULL && op == MPI_OP_NULL, "a freed handle is not null");
  MPI_Datatype others[kMany];
  for (int i = 0; i < kMany; ++i) MPI_Type_contiguous(i + 1, MPI_SHORT, &others[i]);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i) {
    calls = 1;
    check_result(results[i], "one of several");
    MPI_Type_free(&others[i]);
  }
  MPI_Type_free_keyval(&key);
  if (world_rank == 0) printf("kept: passed on %d ranks\n", world_size);
  MPI_Finalize();
  return 0;
}
