/* Every group function against the plain computation of the same, on groups drawn at random. */
#include <string.h>

#include "check.h"

#define MOST 256

typedef struct {
  int count, rank[MOST];
} Set; /* world ranks, in order */

static MPI_Group world;

static int place(const Set* set, int rank) {
  for (int i = 0; i < set->count; ++i)
    if (set->rank[i] == rank) return i;
  return MPI_UNDEFINED;
}

static void compare_with(MPI_Group group, const Set* set, const char* what) {
  int size = -1, rank = -1, ranks[MOST], found[MOST];
  MPI_Group_size(group, &size);
  CHECK(size == set->count, "%s: size %d, expected %d", what, size, set->count);
  MPI_Group_rank(group, &rank);
  CHECK(rank == place(set, world_rank), "%s: rank %d, expected %d", what, rank,
        place(set, world_rank));
  for (int i = 0; i < size; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(group, size, ranks, world, found);
  for (int i = 0; i < size; ++i)
    CHECK(found[i] == set->rank[i], "%s: member %d is %d, expected %d", what, i, found[i],
          set->rank[i]);
}

static void random_set(unsigned* state, Set* set) {
  int pool[MOST];
  for (int i = 0; i < world_size; ++i) pool[i] = i;
  set->count = (int)draw(state, (unsigned)world_size + 1);
  for (int i = 0; i < set->count; ++i) {
    const int j = i + (int)draw(state, (unsigned)(world_size - i));
    const int swap = pool[i];
    pool[i] = pool[j];
    pool[j] = swap;
    set->rank[i] = pool[i];
  }
}

static MPI_Group make(const Set* set) {
  MPI_Group group;
  MPI_Group_incl(world, set->count, set->rank, &group);
  return group;
}

static void pairs(MPI_Group a, const Set* sa, MPI_Group b, const Set* sb) {
  Set both = *sa, common = {0}, rest = {0};
  for (int i = 0; i < sb->count; ++i)
    if (place(sa, sb->rank[i]) == MPI_UNDEFINED) both.rank[both.count++] = sb->rank[i];
  for (int i = 0; i < sa->count; ++i) {
    Set* to = place(sb, sa->rank[i]) == MPI_UNDEFINED ? &rest : &common;
    to->rank[to->count++] = sa->rank[i];
  }
  MPI_Group group;
  MPI_Group_union(a, b, &group);
  compare_with(group, &both, "union");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  MPI_Group_intersection(a, b, &group);
  compare_with(group, &common, "intersection");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  MPI_Group_difference(a, b, &group);
  compare_with(group, &rest, "difference");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);

  int result = -1, expected = MPI_UNEQUAL;
  if (sa->count == sb->count && common.count == sa->count) {
    expected =
        memcmp(sa->rank, sb->rank, sizeof(int) * (size_t)sa->count) ? MPI_SIMILAR : MPI_IDENT;
  }
  MPI_Group_compare(a, b, &result);
  CHECK(result == expected, "compare gave %d, expected %d", result, expected);

  int ranks[MOST + 1], found[MOST + 1];
  for (int i = 0; i < sa->count; ++i) ranks[i] = i;
  ranks[sa->count] = MPI_PROC_NULL;
  MPI_Group_translate_ranks(a, sa->count + 1, ranks, b, found);
  for (int i = 0; i < sa->count; ++i)
    CHECK(found[i] == place(sb, sa->rank[i]), "translate_ranks gave %d, expected %d", found[i],
          place(sb, sa->rank[i]));
  /* The libraries do not look at it if the group is empty. */
  CHECK(!sa->count || !sb->count || found[sa->count] == MPI_PROC_NULL,
        "translate_ranks of MPI_PROC_NULL gave %d", found[sa->count]);
}

static void parts(unsigned* state, MPI_Group a, const Set* sa) {
  int pick[MOST], picked = 0, chosen[MOST] = {0};
  Set in = {0}, out = {0};
  for (int i = 0; i < sa->count; ++i) {
    const int j = (int)draw(state, (unsigned)sa->count);
    if (chosen[j]) continue;
    chosen[j] = 1;
    pick[picked++] = j;
    in.rank[in.count++] = sa->rank[j];
  }
  for (int i = 0; i < sa->count; ++i)
    if (!chosen[i]) out.rank[out.count++] = sa->rank[i];
  MPI_Group group;
  MPI_Group_incl(a, picked, pick, &group);
  compare_with(group, &in, "incl");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  MPI_Group_excl(a, picked, pick, &group);
  compare_with(group, &out, "excl");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  if (sa->count < 2) return;

  /* Every other member from the end on, then the second: a negative stride and a single one. */
  int ranges[2][3] = {{sa->count - 1, 0, -2}, {0, 0, 1}};
  const int both = sa->count % 2 == 0; /* else the first is named already */
  memset(chosen, 0, sizeof chosen);
  in.count = out.count = 0;
  for (int i = sa->count - 1; i >= 0; i -= 2) {
    in.rank[in.count++] = sa->rank[i];
    chosen[i] = 1;
  }
  if (both) {
    in.rank[in.count++] = sa->rank[0];
    chosen[0] = 1;
  }
  for (int i = 0; i < sa->count; ++i)
    if (!chosen[i]) out.rank[out.count++] = sa->rank[i];
  MPI_Group_range_incl(a, 1 + both, ranges, &group);
  compare_with(group, &in, "range_incl");
  MPI_Group_free(&group);
  MPI_Group_range_excl(a, 1 + both, ranges, &group);
  compare_with(group, &out, "range_excl");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}

static void expect(int code, int a, int b, const char* what) {
  const int class = class_of(code);
  CHECK(class == a || class == b, "%s gave error class %d", what, class);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
  CHECK(world_size <= MOST, "at most %d ranks", MOST);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  unsigned state = 99;
  Set everyone = {world_size, {0}};
  for (int i = 0; i < world_size; ++i) everyone.rank[i] = i;
  for (int round = 0; round < 300; ++round) {
    Set sa, sb;
    random_set(&state, &sa);
    random_set(&state, &sb);
    if (round % 7 == 0) sb = sa;
    if (round % 11 == 0) {
      sb = sa;
      for (int i = 0; i < sa.count; ++i) sb.rank[i] = sa.rank[sa.count - 1 - i];
    }
    MPI_Group a = make(&sa), b = make(&sb);
    compare_with(a, &sa, "made");
    pairs(a, &sa, b, &sb);
    pairs(a, &sa, MPI_GROUP_EMPTY, &(Set){0});
    pairs(MPI_GROUP_EMPTY, &(Set){0}, b, &sb);
    pairs(a, &sa, world, &everyone);
    parts(&state, a, &sa);
    if (a != MPI_GROUP_EMPTY) MPI_Group_free(&a);
    if (b != MPI_GROUP_EMPTY) MPI_Group_free(&b);
  }

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Group group = MPI_GROUP_NULL;
  const int beyond[] = {world_size}, twice[] = {0, 0};
  int bad[1][3] = {{0, 1, -1}};
  if (spans)
    expect(MPI_Group_incl(world, 1, beyond, &group), MPI_ERR_RANK, MPI_ERR_ARG, "a rank beyond");
  /* Open MPI and MPICH let it pass. */
  if (spans)
    expect(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK, MPI_ERR_ARG,
           "a rank named twice");
  if (spans)
    expect(MPI_Group_range_incl(world, 1, bad, &group), MPI_ERR_ARG, MPI_ERR_RANK, "a bad stride");
  if (spans)
    expect(MPI_Group_union(world, MPI_GROUP_NULL, &group), MPI_ERR_GROUP, MPI_ERR_ARG,
           "a null group");
  MPI_Group_free(&world);
  CHECK(world == MPI_GROUP_NULL, "MPI_Group_free left the handle");
  return finish("groups");
}
