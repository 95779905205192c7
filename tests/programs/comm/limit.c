/* The program makes communicators until a native library has none left. Then the ranks of all
   clusters get the same error, and continue. ranks: 2 4 */
#include "check.h"

enum { kMost = 2100, kFew = 16 };
static MPI_Comm made[kMost];

typedef int (*Make)(MPI_Comm* comm);

static int by_dup(MPI_Comm* comm) { return MPI_Comm_dup(MPI_COMM_WORLD, comm); }
static int by_split(MPI_Comm* comm) { return MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, comm); }
static int by_idup(MPI_Comm* comm) {
  MPI_Request request;
  const int code = MPI_Comm_idup(MPI_COMM_WORLD, comm, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int by_group(MPI_Comm* comm) {
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, comm);
  MPI_Group_free(&group);
  return code;
}

static int same_everywhere(int mine, const char* what) {
  int both[2] = {mine, -mine}, least[2];
  MPI_Allreduce(both, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  CHECK(least[0] == mine && -least[1] == mine, "%s: %d communicators here, %d to %d elsewhere",
        what, mine, least[0], -least[1]);
  return mine;
}

/* Makes as many as this way can, but few, and frees all. Returns their number. */
static int some(Make make, const char* name) {
  MPI_Comm few[kFew];
  int n = 0;
  while (n < kFew && make(&few[n]) == MPI_SUCCESS) ++n;
  same_everywhere(n, name);
  for (int i = 0; i < n; ++i) MPI_Comm_free(&few[i]);
  return n;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int* members = malloc(sizeof(int) * (size_t)world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

  int n = 0;
  while (n < kMost && by_dup(&made[n]) == MPI_SUCCESS) ++n;
  same_everywhere(n, "MPI_Comm_dup");
  /* MPICH has 2048 context ids; one communicator takes one. */
  const int expected = 2030;
  CHECK(n >= expected, "only %d communicators could be had", n);
  const int limited = n < kMost;
  for (int i = 0; limited && i < 4; ++i) MPI_Comm_free(&made[--n]);
  struct {
    Make make;
    const char* name;
  } ways[] = {{by_dup, "MPI_Comm_dup"},
              {by_split, "MPI_Comm_split"},
              {by_group, "MPI_Comm_create_group"},
              {by_idup, "MPI_Comm_idup"}};
  for (int i = 0; i < 4; ++i) {
    const int few = some(ways[i].make, ways[i].name);
    CHECK(few > 0, "%s: none could be had", ways[i].name);
    CHECK(!limited || few < kFew, "%s: there was no limit", ways[i].name);
  }
  while (n > 0) MPI_Comm_free(&made[--n]);

  MPI_Comm last;
  MPI_Comm_dup(MPI_COMM_WORLD, &last);
  prove(last, members, world_size, "a communicator after all that");
  MPI_Comm_free(&last);
  free(members);
  return finish("limit");
}
