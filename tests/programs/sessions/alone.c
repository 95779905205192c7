/* A program of sessions alone: process sets, groups and communicators of them; several sessions at
   a time, and one after another. needs: sessions. ranks: 2 5 */
#include "sessions.h"

static void process_sets(MPI_Session session) {
  int sets = 0, all = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  CHECK(sets >= 3, "%d process sets", sets);
  for (int i = 0; i < sets; ++i) {
    int length = 0, again;
    char name[MPI_MAX_PSET_NAME_LEN] = "";
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
    CHECK(length > 1 && length < (int)sizeof name, "set %d: length %d", i, length);
    again = length;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &again, name);
    CHECK((int)strlen(name) == length - 1, "set %d: '%s', length %d", i, name, length);
    if (strncmp(name, "isthmus://cluster/", 18) != 0) continue;
    MPI_Group members;
    int size = 0, mine = -1;
    MPI_Group_from_session_pset(session, name, &members);
    MPI_Group_size(members, &size);
    MPI_Group_rank(members, &mine);
    MPI_Group_free(&members);
    const int own = strcmp(name + 18, getenv("ISTHMUS_CLUSTER")) == 0;
    CHECK(own == (mine >= 0), "set %d: '%s', rank %d", i, name, mine);
    all += size;
  }
  CHECK(all == atoi(getenv("ISTHMUS_SIZE")), "%d ranks in all clusters' sets", all);
  MPI_Info info;
  char value[32] = "";
  int found = 0;
  MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
  MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &found);
  CHECK(found && strcmp(value, getenv("ISTHMUS_SIZE")) == 0, "mpi_size '%s'", value);
  MPI_Info_free(&info);
}

/* Returns whether the world is one cluster. */
static int groups(MPI_Session session) {
  MPI_Group world, self, cluster, none;
  int size = 0, rank = -1, place = -1;
  char name[128] = "isthmus://cluster/";
  strcat(name, getenv("ISTHMUS_CLUSTER"));
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_from_session_pset(session, "mpi://SELF", &self);
  MPI_Group_from_session_pset(session, name, &cluster);
  MPI_Group_size(world, &size);
  MPI_Group_rank(world, &rank);
  CHECK(size == atoi(getenv("ISTHMUS_SIZE")) && rank == atoi(my_rank()), "%d of %d", rank, size);
  MPI_Group_size(self, &size);
  CHECK(size == 1, "%d in mpi://SELF", size);
  const int zero = 0;
  MPI_Group_translate_ranks(self, 1, &zero, world, &place);
  CHECK(place == rank, "mpi://SELF is rank %d", place);
  MPI_Group_rank(cluster, &place);
  CHECK(place >= 0, "not in my own cluster");
  MPI_Group_difference(cluster, world, &none);
  MPI_Group_size(none, &size);
  CHECK(size == 0, "%d of the cluster are not in the world", size);
  MPI_Group_free(&none);
  MPI_Group_free(&world);
  MPI_Group_free(&self);
  MPI_Group_size(cluster, &size);
  MPI_Group_free(&cluster);
  return size == atoi(getenv("ISTHMUS_SIZE"));
}

/* The number of times that sessions can begin after all have ended. In one cluster that is the
   native library's business: MPICH 4.0 and Open MPI 5.0 crash at the second. MPICH 5.0 now and then
   hangs on a busy host, or finds a message truncated, in MPI_Comm_create_from_group (natively 1 of
   26, 2026-11). */
static int turns(int one_cluster) { return one_cluster ? 1 : 3; }

int main(void) {
  int flag = -1, one_cluster = 0;
  for (int turn = 0; turn < turns(one_cluster); ++turn) {
    MPI_Session first, second;
    char name[128] = "isthmus://cluster/";
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first) == MPI_SUCCESS, "turn %d",
          turn);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second) == MPI_SUCCESS, "no second");
    MPI_Initialized(&flag);
    CHECK(!flag, "initialized without MPI_Init");
    process_sets(first);
    one_cluster = groups(second);
    MPI_Comm world = comm_of(first, "mpi://WORLD", "org.example.world");
    prove_world(world);
    MPI_Comm cluster = comm_of(second, strcat(name, getenv("ISTHMUS_CLUSTER")), "org.example.mine");
    prove_cluster(cluster);
    MPI_Comm self = comm_of(first, "mpi://SELF", "org.example.self");
    MPI_Barrier(self);
    MPI_Comm_free(&self);
    MPI_Comm_free(&cluster);
    CHECK(MPI_Session_finalize(&second) == MPI_SUCCESS, "the second does not end");
    prove_world(world);
    MPI_Comm_free(&world);
    CHECK(MPI_Session_finalize(&first) == MPI_SUCCESS, "the first does not end");
    CHECK(first == MPI_SESSION_NULL, "a handle is left");
  }
  MPI_Finalized(&flag);
  CHECK(!flag, "finalized without MPI_Init");
  if (atoi(my_rank()) == 0) printf("sessions alone: passed\n");
  return 0;
}
