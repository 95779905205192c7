/* Clusters fail, and processes are spawned in their place elsewhere. regrow LOST:PLACE...: in each
   turn all ranks of the cluster LOST end. The others shrink their communicator and spawn as many
   in PLACE. Spawned ones have the word `child` first, and the turns that are left. +PLACE: they say
   so and wait until that cluster has joined.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { kStep = 20 };

/* Whether this rank's cluster has the name at the start of a turn; spawned ones have a number. */
static int among(const char* turn) {
  const char* const name = isthmus_cluster_name(isthmus_cluster());
  const size_t length = strcspn(name, "/");
  return strcspn(turn, ":") == length && !strncmp(turn, name, length);
}

/* Until somebody fails; members of the cluster end themselves. Somebody else ends `nobody`. */
static void lose(MPI_Comm comm, const char* turn) {
  for (int step = 0;; ++step) {
    int one = 1, sum = 0, size = 0, rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (step == kStep && rank == 0 && !strncmp(turn, "nobody:", 7)) {
      printf("up\n");
      fflush(stdout);
    }
    if (step == kStep && among(turn)) raise(SIGKILL);
    const int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (code != MPI_SUCCESS) {
      const int class = class_of(code);
      CHECK(class == ISTHMUS_ERR_PROC_FAILED || class == ISTHMUS_ERR_REVOKED, "class %d", class);
      return;
    }
    MPI_Comm_size(comm, &size);
    CHECK(sum == size, "the sum is %d of %d", sum, size);
  }
}

/* The intercommunicator says so if its other side is among the failed ones of `comm`. */
static void check_inter(MPI_Comm comm, MPI_Comm inter) {
  int value = 0, there = 0;
  MPI_Group group, failed, both;
  MPI_Comm_remote_group(inter, &group);
  isthmus_comm_get_failed(comm, &failed);
  MPI_Group_intersection(group, failed, &both);
  MPI_Group_size(both, &there);
  MPI_Group_free(&group);
  MPI_Group_free(&both);
  if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
  if (there == 0) return;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const int code = MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == ISTHMUS_ERR_PROC_FAILED, "class %d", class_of(code));
}

static int has_joined(const char* wanted) {
  const char *name = "", *why;
  for (int i = 0; i < isthmus_changes(); ++i) {
    if (isthmus_change(i, &name, &why) == ISTHMUS_CLUSTER_JOINED && !strcmp(name, wanted)) return 1;
  }
  return 0;
}

/* Until all members have heard that the cluster has joined. */
static void wait_for(MPI_Comm comm, const char* wanted) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) printf("wait for %s\n", wanted);
  fflush(stdout);
  for (int all = 0; !all; usleep(10000)) {
    const int mine = has_joined(wanted);
    const int code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    CHECK(code == MPI_SUCCESS, "they are not together, class %d", class_of(code));
  }
}

/* A communicator with as many members as before, after `wanted` were there. */
static MPI_Comm regrow(MPI_Comm comm, const char* self, const char* turn, char** later, int wanted,
                       MPI_Comm* inter) {
  MPI_Comm smaller, whole;
  MPI_Info info;
  int size = 0, count = 1, length = 0;
  char said[4 * MPI_MAX_ERROR_STRING];
  char* words[16] = {"child"};
  const char* place = strchr(turn, ':') + 1;
  isthmus_comm_revoke(comm);
  CHECK(isthmus_comm_shrink(comm, &smaller) == MPI_SUCCESS, "it cannot be shrunk");
  if (*inter != MPI_COMM_NULL) check_inter(comm, *inter);
  if (*place == '+') wait_for(smaller, ++place);
  MPI_Comm_size(smaller, &size);
  for (; *later != NULL; ++later) words[count++] = *later;
  words[count] = NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cluster", place);
  const int code =
      MPI_Comm_spawn(self, words, wanted - size, info, 0, smaller, inter, MPI_ERRCODES_IGNORE);
  if (code != MPI_SUCCESS) MPI_Error_string(code, said, &length);
  CHECK(code == MPI_SUCCESS, "%s: nothing can be spawned: %s", turn, said);
  MPI_Info_free(&info);
  MPI_Intercomm_merge(*inter, 0, &whole);
  MPI_Comm_free(&smaller);
  return whole;
}

int main(int argc, char** argv) {
  const int is_child = argc > 1 && !strcmp(argv[1], "child");
  MPI_Comm comm, inter = MPI_COMM_NULL;
  int size = 0, rank = 0, sum = 0;
  MPI_Init(&argc, &argv);
  if (is_child) {
    MPI_Comm_get_parent(&inter);
    MPI_Intercomm_merge(inter, 1, &comm);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm_size(comm, &size);
  for (char** turn = argv + (is_child ? 2 : 1); *turn != NULL; ++turn) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    lose(comm, *turn);
    MPI_Comm whole = regrow(comm, argv[0], *turn, turn + 1, size, &inter);
    MPI_Comm_free(&comm);
    comm = whole;
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
  MPI_Comm_size(comm, &size);
  if (rank == 0) printf("%d ranks, sum %d\n", size, sum);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
