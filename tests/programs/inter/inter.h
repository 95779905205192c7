/* Shared by the programs of intercommunicators: ways to lie on two sides, and the proof that an
   intercommunicator is what it should be. */
#ifndef INTER_H
#define INTER_H

#include "../comm/check.h"

/* A way to cut the world into two sides (and those who take no part). */
typedef struct {
  const char* name;
  int (*side)(int world_rank, int world_size); /* 0, 1, or -1 */
} Way;

static int by_halves(int r, int n) { return r >= n - n / 2; } /* as the clusters of two lie */
static int alternating(int r, int n) { return (void)n, r % 2; }
static int first_alone(int r, int n) { return (void)n, r > 0; }
static int last_alone(int r, int n) { return r < n - 1; }
static int inside_first(int r, int n) { return r >= n - n / 2 ? -1 : r % 2; }
static int first_and_last(int r, int n) { return r == 0 ? 0 : r == n - 1 ? 1 : -1; }
static int pairs(int r, int n) { return (void)n, r / 2 % 2; }

static const Way ways[] = {
    {"halves", by_halves},
    {"alternating", alternating},
    {"first alone", first_alone},
    {"last alone", last_alone},
    {"in one cluster", inside_first},
    {"first and last", first_and_last},
    {"pairs", pairs},
};
enum { kWays = sizeof ways / sizeof *ways };

/* The members of a side, world ranks in order; returns their number. */
static inline int members_of(const Way* way, int side, int* members) {
  int count = 0;
  for (int r = 0; r < world_size; ++r)
    if (way->side(r, world_size) == side) members[count++] = r;
  return count;
}

typedef struct {
  MPI_Comm inter, local;
  int side; /* -1: takes no part, and has no communicators */
  int rank, size, remote_size;
  int *mine, *theirs; /* world ranks */
  int natively;       /* both sides are in one cluster: the native library's business */
} Meeting;

/* Makes the intercommunicator of a way by MPI_COMM_WORLD; the leaders are the sides' last members.
   Collective over the world. */
static inline Meeting meet(const Way* way, int tag) {
  Meeting m = {MPI_COMM_NULL, MPI_COMM_NULL, way->side(world_rank, world_size), 0, 0, 0, 0, 0, 0};
  m.mine = malloc(sizeof(int) * (size_t)world_size);
  m.theirs = malloc(sizeof(int) * (size_t)world_size);
  m.natively = !span_clusters(MPI_COMM_WORLD, m.side >= 0);
  MPI_Comm_split(MPI_COMM_WORLD, m.side < 0 ? MPI_UNDEFINED : m.side, 0, &m.local);
  if (m.side < 0) return m;
  m.size = members_of(way, m.side, m.mine);
  m.remote_size = members_of(way, 1 - m.side, m.theirs);
  if (m.remote_size == 0) {
    MPI_Comm_free(&m.local);
    m.side = -1;
    return m;
  }
  MPI_Comm_rank(m.local, &m.rank);
  MPI_Intercomm_create(m.local, m.size - 1, MPI_COMM_WORLD, m.theirs[m.remote_size - 1], tag,
                       &m.inter);
  return m;
}

static inline void part(Meeting* m) {
  if (m->inter != MPI_COMM_NULL) MPI_Comm_free(&m->inter);
  if (m->local != MPI_COMM_NULL) MPI_Comm_free(&m->local);
  free(m->mine);
  free(m->theirs);
}

static inline void prove_group(MPI_Group group, const int* members, int count, const char* what) {
  int size = -1;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &size);
  CHECK(size == count, "%s: a group of %d, expected %d", what, size, count);
  for (int i = 0; i < count; ++i) {
    int found = -1;
    MPI_Group_translate_ranks(group, 1, &i, world, &found);
    CHECK(found == members[i], "%s: member %d is world rank %d, expected %d", what, i, found,
          members[i]);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

/* Sizes, ranks, groups, and a message from every rank to every rank of the other side. */
static inline void prove_inter(MPI_Comm inter, const int* mine, int size, const int* theirs,
                               int remote_size, const char* what) {
  int flag = -1, found = -1, rank = -1;
  CHECK(inter != MPI_COMM_NULL, "%s: got MPI_COMM_NULL", what);
  MPI_Comm_test_inter(inter, &flag);
  CHECK(flag, "%s: not an intercommunicator", what);
  MPI_Comm_size(inter, &found);
  CHECK(found == size, "%s: size %d, expected %d", what, found, size);
  MPI_Comm_remote_size(inter, &found);
  CHECK(found == remote_size, "%s: remote size %d, expected %d", what, found, remote_size);
  MPI_Comm_rank(inter, &rank);
  CHECK(rank >= 0 && rank < size && mine[rank] == world_rank, "%s: rank %d", what, rank);
  MPI_Group group;
  MPI_Comm_group(inter, &group);
  prove_group(group, mine, size, what);
  MPI_Comm_remote_group(inter, &group);
  prove_group(group, theirs, remote_size, what);

  const int places = size > remote_size ? size : remote_size;
  for (int step = 0; step < places; ++step) {
    const int to = (rank + step) % places, from = (rank + places - step) % places;
    int out[2] = {world_rank, step}, in[2] = {-1, -1};
    MPI_Status status;
    MPI_Sendrecv(out, 2, MPI_INT, to < remote_size ? to : MPI_PROC_NULL, 5, in, 2, MPI_INT,
                 from < remote_size ? from : MPI_PROC_NULL, 5, inter, &status);
    if (from >= remote_size) continue;
    CHECK(in[0] == theirs[from] && in[1] == step, "%s: %d came from remote rank %d (world %d)",
          what, in[0], from, theirs[from]);
    CHECK(status.MPI_SOURCE == from, "%s: the status says source %d, not %d", what,
          status.MPI_SOURCE, from);
  }
}

#endif
