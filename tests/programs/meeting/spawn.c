/* Processes that are started while the program runs: this program again, with other arguments.
   ranks: 2 3 */
#include <stdlib.h>
#include <string.h>

#include "../checking.h"

static int rank, size;

/* -1: it is not set. */
static int universe_of(MPI_Comm comm) {
  int *value, found;
  MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &value, &found);
  return found ? *value : -1;
}

/* Both sides: messages, collectives, and one communicator of all. */
static void get_acquainted(MPI_Comm inter, int high) {
  int here, there, me, sum = -1, flag;
  MPI_Comm_test_inter(inter, &flag);
  CHECK(flag, "no intercommunicator");
  MPI_Comm_rank(inter, &me);
  MPI_Comm_size(inter, &here);
  MPI_Comm_remote_size(inter, &there);
  const int one = high ? 100 : 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == there * (high ? 1 : 100), "the other side's sum is %d", sum);
  MPI_Comm all;
  MPI_Intercomm_merge(inter, high, &all);
  int rank_of_all, size_of_all;
  MPI_Comm_rank(all, &rank_of_all);
  MPI_Comm_size(all, &size_of_all);
  CHECK(size_of_all == here + there, "%d together", size_of_all);
  CHECK(rank_of_all == (high ? there : 0) + me, "rank %d of all", rank_of_all);
  int* ranks = malloc(sizeof(int) * (size_t)size_of_all);
  MPI_Allgather(&rank_of_all, 1, MPI_INT, ranks, 1, MPI_INT, all);
  for (int r = 0; r < size_of_all; ++r) CHECK(ranks[r] == r, "of %d came %d", r, ranks[r]);
  const int universe = universe_of(MPI_COMM_WORLD);
  int of_first = universe;
  MPI_Bcast(&of_first, 1, MPI_INT, 0, all);
  CHECK(universe == of_first, "MPI_UNIVERSE_SIZE is %d here and %d there", universe, of_first);
  enum { kMany = 200000 };
  double* many = malloc(sizeof(double) * kMany);
  for (int i = 0; i < kMany; ++i) many[i] = rank_of_all == 0 ? i : -1;
  MPI_Bcast(many, kMany, MPI_DOUBLE, 0, all);
  for (int i = 0; i < kMany; ++i) CHECK(many[i] == i, "element %d is %g", i, many[i]);
  free(many);
  free(ranks);
  MPI_Comm_free(&all);
}

static void child(int argc, char** argv, MPI_Comm parent) {
  CHECK(argc == 4 && strcmp(argv[1], "child") == 0, "%d arguments", argc);
  CHECK(size == atoi(argv[2]), "the children's world has %d", size);
  int *number, found, sum;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  CHECK(found && *number == atoi(argv[3]), "MPI_APPNUM is %d", found ? *number : -1);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2, "the children's sum is %d", sum);
  get_acquainted(parent, 1);
  MPI_Comm_disconnect(&parent);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL, "a parent after the disconnection");
}

static MPI_Info info_of(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

static void one(char* program, MPI_Comm comm, int root, int n, MPI_Info info) {
  char number[16];
  snprintf(number, sizeof number, "%d", n);
  char* arguments[] = {"child", number, "0", NULL};
  int codes[8];
  for (int i = 0; i < 8; ++i) codes[i] = -1;
  MPI_Comm children;
  MPI_Comm_spawn(program, arguments, n, info, root, comm, &children, codes);
  int there;
  MPI_Comm_remote_size(children, &there);
  CHECK(there == n, "%d children", there);
  for (int i = 0; i < n; ++i) CHECK(codes[i] == MPI_SUCCESS, "code %d is %d", i, codes[i]);
  get_acquainted(children, 0);
  MPI_Comm_disconnect(&children);
}

static void several(char* program) {
  char* commands[] = {program, program};
  char* first[] = {"child", "3", "0", NULL};
  char* second[] = {"child", "3", "1", NULL};
  char** arguments[] = {first, second};
  const int numbers[] = {1, 2};
  MPI_Info infos[] = {info_of("cluster", "west"), info_of("cluster", "east,west")};
  MPI_Comm children;
  MPI_Comm_spawn_multiple(2, commands, arguments, numbers, infos, 0, MPI_COMM_WORLD, &children,
                          MPI_ERRCODES_IGNORE);
  get_acquainted(children, 0);
  MPI_Comm_disconnect(&children);
  for (int i = 0; i < 2; ++i) MPI_Info_free(&infos[i]);
}

static void fails(const char* what, const char* program, MPI_Info info, int root) {
  int codes[2] = {MPI_SUCCESS, MPI_SUCCESS};
  char* arguments[] = {"1", NULL};
  MPI_Comm children = MPI_COMM_WORLD;
  const int number = rank == root ? 2 : -1; /* the others need not know it */
  const int code =
      MPI_Comm_spawn(program, arguments, number, info, root, MPI_COMM_WORLD, &children, codes);
  CHECK(class_of(code) == MPI_ERR_SPAWN, "%s: class %d", what, class_of(code));
  CHECK(children == MPI_COMM_NULL, "%s: a communicator", what);
  for (int i = 0; i < 2; ++i) CHECK(codes[i] == MPI_ERR_SPAWN, "%s: code %d", what, codes[i]);
  int length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_string(code, text, &length);
  if (rank == root) printf("%s: %s\n", what, text);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    child(argc, argv, parent);
  } else {
    one(argv[0], MPI_COMM_WORLD, 0, 2, MPI_INFO_NULL);
    MPI_Info west = info_of("cluster", "west"), both = info_of("cluster", "east,west");
    one(argv[0], MPI_COMM_WORLD, size - 1, 1, west);
    one(argv[0], MPI_COMM_WORLD, 0, 3, both);
    if (rank == 0) one(argv[0], MPI_COMM_SELF, 0, 1, west);
    several(argv[0]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info nowhere = info_of("cluster", "nowhere");
    fails("no such program", "/nonexistent/program", MPI_INFO_NULL, 0);
    fails("no such cluster", argv[0], nowhere, size - 1);
    fails("no MPI program", "/bin/false", MPI_INFO_NULL, 0);
    MPI_Info_free(&west);
    MPI_Info_free(&both);
    MPI_Info_free(&nowhere);
  }
  MPI_Finalize();
  return 0;
}
