/* isthmus.h tells the clusters that the environment, communicators and standard functions tell,
   too. ranks: 2 5 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../include/isthmus.h"

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
    }                                                                                        \
  } while (0)

static int rank, size;

static void clusters(void) {
  const int number = isthmus_clusters();
  CHECK(number >= 1);
  int ranks = 0, first = -1;
  for (int cluster = 0; cluster < isthmus_clusters(); ++cluster) {
    int found = 0, its_first = -1;
    for (int i = 0; i < size; ++i) {
      if (isthmus_cluster_of(i) != cluster) continue;
      if (found++ == 0) its_first = i;
    }
    CHECK(found == isthmus_cluster_size(cluster));
    CHECK(its_first > first);
    first = its_first;
    ranks += found;
  }
  CHECK(ranks == size);
  CHECK(isthmus_cluster_of(-1) == -1 && isthmus_cluster_of(size) == -1);
  CHECK(isthmus_cluster_size(-1) == -1 && isthmus_cluster_size(number) == -1);
  CHECK(!strcmp(isthmus_cluster_name(number), ""));
  char mine[64] = "", names[64][64];
  strncpy(mine, getenv("ISTHMUS_CLUSTER"), sizeof mine - 1);
  MPI_Allgather(mine, sizeof mine, MPI_CHAR, names, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i)
    CHECK(!strcmp(isthmus_cluster_name(isthmus_cluster_of(i)), names[i]));
}

static void links(void) {
  double latency = -1, rate = -1;
  CHECK(isthmus_link(0, 0, 0, 0) == ISTHMUS_LINK_LOCAL);
  CHECK(isthmus_link(0, isthmus_clusters(), &latency, &rate) == -1);
  if (isthmus_clusters() == 1) return;
  latency = rate = -1;
  const int way = isthmus_link(0, 1, &latency, &rate);
  CHECK(way == ISTHMUS_LINK_DIRECT || way == ISTHMUS_LINK_GATEWAY);
  CHECK(latency >= 0 && latency < 1 && rate >= 0);
  CHECK(isthmus_link(1, 0, 0, 0) == way);
}

static void communicators(void) {
  int members = 0, place = 0, sum = 0, like = 0;
  CHECK(MPI_COMM_NUMBER == (isthmus_clusters() > 1 ? 2 : 1));
  CHECK(MPI_COMM_WORLD_INDEX == MPI_COMM_NUMBER - 1);
  CHECK(MPI_USER_COMM[MPI_COMM_WORLD_INDEX] == MPI_COMM_WORLD);
  CHECK(MPI_USER_COMM[0] == isthmus_cluster_comm());
  MPI_Comm_size(MPI_USER_COMM[0], &members);
  MPI_Comm_rank(MPI_USER_COMM[0], &place);
  CHECK(members == isthmus_cluster_size(isthmus_cluster()));
  int before = 0, expected = 0;
  for (int i = 0; i < size; ++i) {
    if (isthmus_cluster_of(i) != isthmus_cluster()) continue;
    before += i < rank;
    expected += i;
  }
  CHECK(place == before);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_USER_COMM[0]);
  CHECK(sum == expected);
  MPI_Comm split;
  MPI_Comm_split(MPI_COMM_WORLD, isthmus_cluster(), 0, &split);
  MPI_Comm_compare(split, MPI_USER_COMM[0], &like);
  CHECK(like == MPI_CONGRUENT || like == MPI_IDENT);
  MPI_Comm_free(&split);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  clusters();
  links();
  communicators();
  if (rank == 0) printf("topology from C: passed on %d ranks\n", size);
  MPI_Finalize();
  return 0;
}
