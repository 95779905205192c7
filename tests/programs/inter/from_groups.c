/* Intercommunicators of two groups alone, on two sides that lie in any way; the group of the other
   side is known to the leader alone. Error handlers and names go with them. needs: sessions.
   ranks: 2 5 6 */
#include "inter.h"

static MPI_Group group_of(const int* members, int count) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, members, &group);
  MPI_Group_free(&world);
  return group;
}

/* The leader of each side is its last member. */
static int create(const Meeting* m, int leader, int with_remote, const char* tag, MPI_Comm* inter) {
  MPI_Group local = group_of(m->mine, m->size), remote = MPI_GROUP_EMPTY;
  if (with_remote && m->rank == m->size - 1) remote = group_of(m->theirs, m->remote_size);
  const int code = MPI_Intercomm_create_from_groups(local, leader, remote, m->remote_size - 1, tag,
                                                    MPI_INFO_NULL, MPI_ERRORS_RETURN, inter);
  if (remote != MPI_GROUP_EMPTY) MPI_Group_free(&remote);
  MPI_Group_free(&local);
  return code;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
#ifndef OPEN_MPI /* MPICH's own crashes (4.0), or gives MPI_COMM_NULL (5.0) */
  if (!spans) return finish("intercommunicators of groups, not asked of the native library");
#endif
  for (int w = 0; w < kWays; ++w) {
    Meeting m = meet(&ways[w], 11 + w);
    MPI_Comm inter = MPI_COMM_NULL;
    if (m.side >= 0) {
      CHECK(create(&m, m.size - 1, 1, ways[w].name, &inter) == MPI_SUCCESS, "%s: none made",
            ways[w].name);
      prove_inter(inter, m.mine, m.size, m.theirs, m.remote_size, ways[w].name);
      MPI_Errhandler handler;
      MPI_Comm_get_errhandler(inter, &handler);
      CHECK(handler == MPI_ERRORS_RETURN, "%s: another error handler", ways[w].name);
      MPI_Errhandler_free(&handler);
      MPI_Comm_free(&inter);
    }
    /* Native libraries wait forever, or look for less. */
    if (m.side >= 0 && spans) {
      CHECK(create(&m, m.size, 1, "no such leader", &inter) != MPI_SUCCESS, "a leader outside");
      CHECK(create(&m, m.size - 1, 0, "nobody", &inter) != MPI_SUCCESS, "nobody on the other side");
      CHECK(inter == MPI_COMM_NULL, "a handle where there is an error");
    }
    part(&m);
  }
  return finish("intercommunicators of groups");
}
