/* Clusters join the running world, and processes are spawned there. joins CHILD TURN...: in each
   turn the ranks wait until all of them have heard that the cluster TURN has joined, and spawn two
   processes there, with the program CHILD. `-NAME`: they wait until that cluster has left. Spawned
   ones have the word `child` first, and the turns that are left. */
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static MPI_Comm comm;

/* The last change of that cluster that this process has heard of; -1: none. */
static int last_of(const char* name) {
  int last = -1;
  for (int i = 0; i < isthmus_changes(); ++i) {
    const char *cluster, *why;
    const int kind = isthmus_change(i, &cluster, &why);
    CHECK(kind >= 0 && strstr(why, cluster) != NULL, "change %d: %d, '%s'", i, kind, why);
    if (strcmp(cluster, name) == 0) last = kind;
  }
  CHECK(isthmus_change(isthmus_changes() + 1000, NULL, NULL) == -1, "there are more changes");
  return last;
}

static void wait_for(const char* name, int kind) {
  for (int all = 0; !all; usleep(10000)) {
    int mine = last_of(name) == kind;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  }
}

/* Its process set is listed once, and has no members. */
static void check_set(const char* name) {
#if MPI_VERSION >= 4
  int number = 0, found = 0;
  char wanted[128];
  MPI_Session session;
  MPI_Info info;
  snprintf(wanted, sizeof wanted, "isthmus://spare/%s", name);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number);
  for (int i = 0; i < number; ++i) {
    char set[MPI_MAX_PSET_NAME_LEN];
    int length = sizeof set;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, set);
    found += strcmp(set, wanted) == 0;
  }
  CHECK(found == 1, "%s is listed %d times", wanted, found);
  MPI_Session_get_pset_info(session, wanted, &info);
  MPI_Info_free(&info);
  MPI_Session_finalize(&session);
#else
  (void)name;
#endif
}

static void grow(char** words, const char* name) {
  char* later[80] = {"child"};
  int count = 1;
  MPI_Comm children, whole;
  MPI_Info info;
  for (char** word = words; *word != NULL; ++word) later[count++] = *word;
  later[count] = NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cluster", name);
  MPI_Comm_spawn(words[0], later, 2, info, 0, comm, &children, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  MPI_Intercomm_merge(children, 0, &whole);
  MPI_Comm_free(&children);
  MPI_Comm_free(&comm);
  comm = whole;
}

/* Each turn ends with this, also for the processes that it has spawned. */
static void check(const char* name) {
  int rank = 0, size = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "the sum of %d ranks is %d", size, sum);
  check_set(name);
  if (rank == 0) printf("%s: %d ranks, sum %d\n", name, size, sum);
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int is_child = argc > 1 && !strcmp(argv[1], "child");
  char** turn = argv + 2;
  int rank = 0;
  MPI_Init(&argc, &argv);
  if (is_child) {
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    MPI_Intercomm_merge(parents, 1, &comm);
    MPI_Comm_free(&parents);
    turn = argv + 4;
    check(argv[3]);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) printf("up\n");
    fflush(stdout);
  }
  for (; *turn != NULL; ++turn) {
    if (**turn == '-') {
      wait_for(*turn + 1, ISTHMUS_CLUSTER_LEFT);
      MPI_Comm_rank(comm, &rank);
      if (rank == 0) printf("%s\n", *turn);
      fflush(stdout);
      continue;
    }
    wait_for(*turn, ISTHMUS_CLUSTER_JOINED);
    /* The program of the children, this turn, and those that are left. */
    char* before = turn[-1];
    turn[-1] = is_child ? argv[2] : argv[1];
    grow(turn - 1, *turn);
    turn[-1] = before;
    check(*turn);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
