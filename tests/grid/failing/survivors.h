/* The ranks that live on when the victim's cluster fails, and the cases that they run meanwhile. */
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"
#include "victim.h"

enum { MOST = 64 };
static const char* const kVictim = "west";

static int rank, size, living; /* ranks that live */
static int dead[MOST], takes_part, first_alive, victim;
static MPI_Comm alive; /* of those that live; null at the victim */

struct Case {
  const char* name;
  void (*run)(void);
};

static void begin(int argc, char** argv) {
  int mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  takes_part = argc > 2;
  mine = !strcmp(isthmus_cluster_name(isthmus_cluster()), kVictim);
  MPI_Allgather(&mine, 1, MPI_INT, dead, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, mine ? MPI_UNDEFINED : 0, 0, &alive);
  victim = first_alive = -1;
  for (int r = 0; r < size; ++r) {
    if (dead[r] && victim < 0) victim = r;
    if (!dead[r] && first_alive < 0) first_alive = r;
    living += !dead[r];
  }
}

/* All cases, argv[1] first. Ranks that live return. */
static void run_all(const struct Case* cases, int number, char** argv) {
  int first = 0;
  while (first < number && strcmp(cases[first].name, argv[1])) ++first;
  CHECK(first < number, "there is no case %s", argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (dead[rank]) fail(rank == victim, argv[2]);
  for (int i = 0; i < number; ++i) cases[(first + i) % number].run();
  while (dead[rank]) pause();
}

static int end(void) {
  if (rank == first_alive) printf("%d of %d go on\n", living, size);
  MPI_Finalize();
  return 0;
}

static int of_all(int mine) {
  int sum = mine;
  if (!dead[rank]) MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, alive);
  return sum;
}
static void expect_well(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  CHECK(code == MPI_SUCCESS || dead[rank], "%s: %s", what, text);
}
