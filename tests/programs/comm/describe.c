/* Descriptions of communicators: comparison, names, predefined attributes, and the parts that
   MPI_Comm_split_type makes. */
#include <string.h>

#include "check.h"

static void compare(MPI_Comm a, MPI_Comm b, int expected, const char* what) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  CHECK(result == expected, "%s compares as %d, expected %d", what, result, expected);
  MPI_Comm_compare(b, a, &result);
  CHECK(result == expected, "%s, turned around, compares as %d, expected %d", what, result,
        expected);
}

/* A part made by type: I am in it, and so are all who say they share its first member. */
static void check_part(MPI_Comm part, const char* what) {
  CHECK(part != MPI_COMM_NULL, "%s: got MPI_COMM_NULL", what);
  int size = 0, first = world_rank;
  long count = 1, sum = 0;
  MPI_Comm_size(part, &size);
  CHECK(size >= 1 && size <= world_size, "%s: %d ranks", what, size);
  MPI_Bcast(&first, 1, MPI_INT, 0, part);
  MPI_Allreduce(&count, &sum, 1, MPI_LONG, MPI_SUM, part);
  CHECK(sum == size, "%s: %ld ranks answered, expected %d", what, sum, size);
  MPI_Comm whole;
  MPI_Comm_split(MPI_COMM_WORLD, first, world_rank, &whole);
  int whole_size = 0, likeness = -1;
  MPI_Comm_size(whole, &whole_size);
  CHECK(whole_size == size, "%s: parts overlap", what);
  MPI_Comm_compare(whole, part, &likeness);
  CHECK(likeness == MPI_CONGRUENT || likeness == MPI_SIMILAR, "%s: compares as %d with its like",
        what, likeness);
  MPI_Comm_free(&whole);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
  MPI_Comm copy, back, part, two;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &back);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? 0 : 1, 0, &part);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &two);
  compare(MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_IDENT, "the world with itself");
  compare(copy, MPI_COMM_WORLD, MPI_CONGRUENT, "a duplicate");
  compare(back, MPI_COMM_WORLD, MPI_SIMILAR, "the reversed world");
  compare(part, MPI_COMM_WORLD, MPI_UNEQUAL, "a part");
  compare(MPI_COMM_SELF, MPI_COMM_WORLD, MPI_UNEQUAL, "MPI_COMM_SELF");
  compare(two, copy, MPI_UNEQUAL, "another part");

  char name[MPI_MAX_OBJECT_NAME];
  int length = 0, inter = 1;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0, "the world is named '%s'", name);
  MPI_Comm_set_name(back, "turned");
  MPI_Comm_get_name(back, name, &length);
  CHECK(strcmp(name, "turned") == 0 && length == 6, "the name set came back as '%s'", name);
  MPI_Comm_test_inter(back, &inter);
  CHECK(inter == 0, "MPI_Comm_test_inter gave %d", inter);
  int *value = NULL, found = 0, everywhere = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  CHECK(found && *value >= 32767, "MPI_TAG_UB is %d", found ? *value : -1);
  MPI_Allreduce(value, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  CHECK(everywhere == *value, "MPI_TAG_UB is %d here, %d elsewhere", *value, everywhere);
  int tag = *value, token = 5;
  MPI_Sendrecv_replace(&token, 1, MPI_INT, (world_rank + 1) % world_size, tag,
                       (world_rank + world_size - 1) % world_size, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
  /* An oversubscribed native job may be larger. */
  CHECK(!found || *value >= (spans ? world_size : 1), "MPI_UNIVERSE_SIZE is %d", *value);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &found);
  CHECK(found && (*value == 0 || *value == 1), "MPI_WTIME_IS_GLOBAL is not a truth value");

  MPI_Comm shared, none;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, &shared);
  check_part(shared, "shared memory");
  MPI_Comm_free(&shared);
  MPI_Comm_split_type(MPI_COMM_WORLD, world_rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
                      MPI_INFO_NULL, &shared);
  CHECK((shared == MPI_COMM_NULL) == (world_rank == 0), "MPI_UNDEFINED among the types");
  if (shared != MPI_COMM_NULL) MPI_Comm_free(&shared);
  MPI_Comm_split_type(back, MPI_UNDEFINED, 0, MPI_INFO_NULL, &none);
  CHECK(none == MPI_COMM_NULL, "MPI_UNDEFINED everywhere gave a communicator");

  int knows = MPI_VERSION >= 4, all_know = 0; /* clusters may differ */
  MPI_Allreduce(&knows, &all_know, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  /* The cluster as a resource; native libraries may not know it. */
  if (all_know && spans) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "cluster");
    MPI_Comm cluster;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, world_rank, info, &cluster);
    check_part(cluster, "the cluster");
    int size = 0, again = 0;
    MPI_Comm_size(cluster, &size);
    CHECK(size < world_size, "the cluster is the world");
    char mine[64] = "", firsts[64] = "";
    snprintf(mine, sizeof mine, "%s", getenv("ISTHMUS_CLUSTER"));
    memcpy(firsts, mine, sizeof mine);
    MPI_Bcast(firsts, sizeof firsts, MPI_CHAR, 0, cluster);
    CHECK(strcmp(mine, firsts) == 0, "clusters %s and %s in one part", mine, firsts);
    MPI_Comm inner;
    MPI_Comm_split_type(cluster, MPI_COMM_TYPE_HW_GUIDED, 0, info, &inner);
    MPI_Comm_size(inner, &again);
    CHECK(again == size, "the cluster of a cluster has %d ranks, expected %d", again, size);
    MPI_Comm_free(&inner);
    MPI_Comm_free(&cluster);
    MPI_Info_free(&info);
  }
#endif
  MPI_Comm_free(&copy);
  MPI_Comm_free(&back);
  MPI_Comm_free(&part);
  MPI_Comm_free(&two);
  return finish("describe");
}
