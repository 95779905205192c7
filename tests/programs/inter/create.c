/* Intercommunicators on two sides that lie in any way: sizes, groups, messages, merging, freeing.
   ranks: 2 4 7 */
#include "inter.h"

static void merge(const Meeting* m, int high_side, const char* what) {
  /* -1: both say low; else that side is high */
  int* members = malloc(sizeof(int) * (size_t)world_size);
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(m->inter, m->side == high_side, &merged);
  int first_is_mine = m->side != high_side;
  if (high_side < 0) {
    MPI_Group world, group;
    const int zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(merged, &group);
    int first = -1;
    MPI_Group_translate_ranks(group, 1, &zero, world, &first);
    first_is_mine = first == m->mine[0];
    MPI_Group_free(&world);
    MPI_Group_free(&group);
  }
  int count = 0;
  for (int half = 0; half < 2; ++half) {
    const int own = (half == 0) == first_is_mine;
    const int* side = own ? m->mine : m->theirs;
    for (int i = 0; i < (own ? m->size : m->remote_size); ++i) members[count++] = side[i];
  }
  int inter = -1;
  MPI_Comm_test_inter(merged, &inter);
  CHECK(!inter, "%s: what was merged is an intercommunicator", what);
  prove(merged, members, count, what);
  MPI_Comm_free(&merged);
  free(members);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int w = 0; w < kWays; ++w) {
    Meeting m = meet(&ways[w], 11 + w);
    if (m.side >= 0) {
      prove_inter(m.inter, m.mine, m.size, m.theirs, m.remote_size, ways[w].name);
      merge(&m, 0, ways[w].name);
      merge(&m, 1, ways[w].name);
      merge(&m, -1, ways[w].name);
      prove_inter(m.inter, m.mine, m.size, m.theirs, m.remote_size, ways[w].name);
    }
    part(&m);
  }
  return finish("intercommunicators");
}
