/* MPI_Comm_create and MPI_Comm_create_group: orders of their own, disjoint groups at once, empty
   groups, and groups whose members alone call. */
#include "check.h"

/* Of the parent's group: MPICH 4.0 crashes on groups that were made from another's. */
static MPI_Group group_from(MPI_Comm parent, const int* ranks, int count) {
  MPI_Group world, all, group;
  int* places = malloc(sizeof(int) * (size_t)(count + 1));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(parent, &all);
  MPI_Group_translate_ranks(world, count, ranks, all, places);
  MPI_Group_incl(all, count, places, &group);
  MPI_Group_free(&world);
  MPI_Group_free(&all);
  free(places);
  return group;
}

static int holds(const int* ranks, int count) {
  for (int i = 0; i < count; ++i)
    if (ranks[i] == world_rank) return 1;
  return 0;
}

static void create(const int* ranks, int count, const char* what) {
  MPI_Group group = group_from(MPI_COMM_WORLD, ranks, count);
  MPI_Comm comm;
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  if (holds(ranks, count)) {
    prove(comm, ranks, count, what);
    MPI_Comm_free(&comm);
  } else {
    CHECK(comm == MPI_COMM_NULL, "%s: not a member, but got a communicator", what);
  }
  MPI_Group_free(&group);
}

static void create_group(MPI_Comm parent, const int* ranks, int count, int tag, const char* what) {
  if (!holds(ranks, count)) return;
  MPI_Group group = group_from(parent, ranks, count);
  MPI_Comm comm;
  MPI_Comm_create_group(parent, group, tag, &comm);
  prove(comm, ranks, count, what);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int n = world_size;
  int *ranks = malloc(sizeof(int) * n), *other = malloc(sizeof(int) * n), count = 0, others = 0;

  for (int i = 0; i < n; ++i) ranks[i] = n - 1 - i;
  create(ranks, n, "create: reversed");
  create_group(MPI_COMM_WORLD, ranks, n, 0, "create_group: reversed");
  create(ranks, n / 2, "create: the upper half, reversed");
  create_group(MPI_COMM_WORLD, ranks, n / 2, 17, "create_group: the upper half, reversed");
  create(ranks + n - 1, 1, "create: rank 0 alone");
  create_group(MPI_COMM_WORLD, ranks + n - 1, 1, 17, "create_group: rank 0 alone");
  create(ranks, 0, "create: nobody");
  for (int i = 0; i < n; ++i) ranks[i] = (i + n / 2) % n;
  create(ranks, n, "create: rotated");
  create_group(MPI_COMM_WORLD, ranks, n, 1, "create_group: rotated");

  /* Disjoint groups in one call, and at once with one tag. */
  for (int i = n - 1; i >= 0; --i) {
    if (i % 2) {
      ranks[count++] = i;
    } else {
      other[others++] = i;
    }
  }
  const int odd = world_rank % 2;
  MPI_Group group =
      odd ? group_from(MPI_COMM_WORLD, ranks, count) : group_from(MPI_COMM_WORLD, other, others);
  MPI_Comm comm;
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  prove(comm, odd ? ranks : other, odd ? count : others, "create: odd and even at once");
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  for (int repeat = 0; repeat < 5; ++repeat) {
    create_group(MPI_COMM_WORLD, ranks, count, 4, "create_group: the odd");
    create_group(MPI_COMM_WORLD, other, others, 4, "create_group: the even");
  }

  /* Within a communicator whose order is not the world's. */
  MPI_Comm back;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &back);
  create_group(back, other, others, 32767, "create_group in a reversed communicator");
  for (int i = 0; i + 1 < n; ++i) {
    const int pair[2] = {i + 1, i};
    create_group(back, pair, 2, i, "create_group: overlapping pairs");
  }

  /* A group that is not a subset. Native libraries do not look; a grid does. */
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == n - 1 ? MPI_UNDEFINED : 0, 0, &part);
  if (part != MPI_COMM_NULL && !spans_clusters(part)) MPI_Comm_free(&part);
  if (part != MPI_COMM_NULL) {
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    const int code = MPI_Comm_create(part, all, &none);
    const int class = class_of(code);
    CHECK(class == MPI_ERR_GROUP || class == MPI_ERR_ARG || class == MPI_ERR_RANK,
          "a group that is no subset gave error class %d", class);
    MPI_Group_free(&all);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&back);
  free(ranks), free(other);
  return finish("create");
}
