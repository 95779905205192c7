/* Communicators made from intercommunicators: duplicates of every kind, parts, and what hangs on
   them.
   ranks: 2 4 7 */
#include <string.h>

#include "inter.h"

static int keyval, copies, deletions;

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

static void prove_compare(MPI_Comm a, MPI_Comm b, int expected, const char* what) {
  int found = -1;
  MPI_Comm_compare(a, b, &found);
  CHECK(found == expected, "%s: the comparison gives %d, expected %d", what, found, expected);
}

static void duplicates(const Meeting* m, const char* what) {
  static char base[2];
  char* value = NULL;
  int flag = 0, length = 0;
  char name[MPI_MAX_OBJECT_NAME] = "";
  MPI_Comm_set_attr(m->inter, keyval, base);
  MPI_Comm_set_name(m->inter, "both sides");
  MPI_Comm_get_name(m->inter, name, &length);
  CHECK(!strcmp(name, "both sides"), "%s: the name is %s", what, name);
  prove_compare(m->inter, m->inter, MPI_IDENT, what);
  prove_compare(m->inter, m->local, MPI_UNEQUAL, what);
  for (int way = 0; way < 3; ++way) {
    MPI_Comm dup = MPI_COMM_NULL;
    const int copied = copies, deleted = deletions;
    if (way == 0) {
      MPI_Comm_dup(m->inter, &dup);
    } else if (way == 1) {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "key", "value");
      MPI_Comm_dup_with_info(m->inter, info, &dup);
      MPI_Info_free(&info);
    } else {
      MPI_Request request;
      MPI_Comm_idup(m->inter, &dup, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(copies == copied + 1, "%s: the attribute was copied %d times", what, copies - copied);
    MPI_Comm_get_attr(dup, keyval, &value, &flag);
    CHECK(flag && value == base + 1, "%s: the copy of the attribute is wrong", what);
    prove_compare(m->inter, dup, MPI_CONGRUENT, what);
    prove_inter(dup, m->mine, m->size, m->theirs, m->remote_size, what);
    int sum = 0, expected = 0;
    for (int i = 0; i < m->remote_size; ++i) expected += m->theirs[i];
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, dup);
    CHECK(sum == expected, "%s: the sum over a duplicate is %d, not %d", what, sum, expected);
    MPI_Comm_free(&dup);
    CHECK(dup == MPI_COMM_NULL, "%s: not MPI_COMM_NULL", what);
    CHECK(deletions == deleted + 1, "%s: %d attributes deleted", what, deletions - deleted);
  }
  MPI_Comm_delete_attr(m->inter, keyval);
}

/* The members of a side with an even or odd place in it, backwards. */
static int part_of(const int* side, int size, int odd, int* members) {
  int count = 0;
  for (int i = size - 1; i >= 0; --i)
    if (i % 2 == odd) members[count++] = side[i];
  return count;
}

static void parts(const Meeting* m, const char* what) {
  int* mine = malloc(sizeof(int) * (size_t)world_size);
  int* theirs = malloc(sizeof(int) * (size_t)world_size);
  MPI_Comm part = MPI_COMM_NULL;
  const int odd = m->rank % 2;
  MPI_Comm_split(m->inter, odd, -m->rank, &part);
  const int size = part_of(m->mine, m->size, odd, mine);
  const int remote_size = part_of(m->theirs, m->remote_size, odd, theirs);
  if (remote_size == 0) {
    CHECK(part == MPI_COMM_NULL, "%s: a part without a remote side", what);
  } else {
    prove_inter(part, mine, size, theirs, remote_size, what);
    MPI_Barrier(part);
    if (size != m->size || remote_size != m->remote_size) {
      prove_compare(m->inter, part, MPI_UNEQUAL, what);
    } else {
      prove_compare(m->inter, part, size > 1 || remote_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT,
                    what);
    }
    MPI_Comm_free(&part);
  }
  MPI_Comm_split(m->inter, m->rank == 0 ? 3 : MPI_UNDEFINED, 0, &part);
  CHECK((part == MPI_COMM_NULL) == (m->rank != 0), "%s: the firsts of both sides", what);
  if (part != MPI_COMM_NULL) {
    prove_inter(part, m->mine, 1, m->theirs, 1, what);
    MPI_Comm_free(&part);
  }
  /* One side takes no part. */
  MPI_Comm_split(m->inter, m->side == 0 ? 1 : MPI_UNDEFINED, 0, &part);
  CHECK(part == MPI_COMM_NULL, "%s: a part without a remote side", what);

  /* Each side's last and first, by group. Natively, Open MPI (4.1 and 5.0) has the remote ones in
     their old order. */
  MPI_Group group, chosen;
  const int natively = m->natively;
  const int ranks[] = {natively ? 0 : m->size - 1, natively ? m->size - 1 : 0};
  const int count = m->size > 1 ? 2 : 1, remote_count = m->remote_size > 1 ? 2 : 1;
  MPI_Comm_group(m->inter, &group);
  MPI_Group_incl(group, count, ranks, &chosen);
  MPI_Comm_create(m->inter, chosen, &part);
  mine[natively && count > 1] = m->mine[m->size - 1];
  theirs[natively && remote_count > 1] = m->theirs[m->remote_size - 1];
  mine[!natively] = m->mine[0];
  theirs[!natively] = m->theirs[0];
  if (m->rank == 0 || m->rank == m->size - 1) {
    prove_inter(part, mine, count, theirs, remote_count, what);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
  } else {
    CHECK(part == MPI_COMM_NULL, "%s: not in the group", what);
  }
  MPI_Group_free(&chosen);
  MPI_Group_free(&group);
  free(mine);
  free(theirs);
}

/* The members of both sides on one node. Here all clusters are on the same node, and a part is
   within one cluster. */
static void by_node(const Meeting* m, const char* what) {
  MPI_Comm part = MPI_COMM_NULL;
  if (m->natively) return; /* Open MPI crashes */
  MPI_Comm_split_type(m->inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  if (part != MPI_COMM_NULL) {
    int inter = 0, size = 0, remote_size = 0, sum = 0;
    MPI_Comm_test_inter(part, &inter);
    MPI_Comm_size(part, &size);
    MPI_Comm_remote_size(part, &remote_size);
    CHECK(inter && size > 0 && remote_size > 0, "%s: a part by node of %d and %d", what, size,
          remote_size);
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
    CHECK(sum == remote_size, "%s: %d of %d answer", what, sum, remote_size);
    MPI_Comm_free(&part);
  }
  MPI_Comm_split_type(m->inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part);
  CHECK(part == MPI_COMM_NULL, "%s: MPI_UNDEFINED", what);
}

/* The first of each side meets the other over the intercommunicator itself, which Open MPI does not
   do natively. */
static void over_itself(const Meeting* m, const char* what) {
  if (m->natively) return;
  MPI_Comm alone = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(m->local, m->rank == 0 ? 0 : MPI_UNDEFINED, 0, &alone);
  if (m->rank == 0) {
    MPI_Intercomm_create(alone, 0, m->inter, 0, 21, &inter);
    prove_inter(inter, m->mine, 1, m->theirs, 1, what);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&alone);
  }
}

static int handled;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void handlers(const Meeting* m, const char* what) {
  MPI_Errhandler handler, found;
  MPI_Comm dup;
  int data = 0;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(m->inter, handler);
  MPI_Comm_dup(m->inter, &dup);
  MPI_Comm_get_errhandler(dup, &found);
  CHECK(found == handler, "%s: a duplicate has another error handler", what);
  MPI_Errhandler_free(&found);
  handled = 0;
  MPI_Send(&data, 1, MPI_INT, m->remote_size + 5, 0, dup);
  CHECK(handled == 1, "%s: the error handler was called %d times", what, handled);
  MPI_Comm_free(&dup);
  MPI_Comm_set_errhandler(m->inter, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

/* Freed while a message is still to come. */
static void early(const Meeting* m, const char* what) {
  MPI_Comm dup;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int in = -1;
  MPI_Comm_dup(m->inter, &dup);
  if (m->rank < m->remote_size) MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 4, dup, &request);
  MPI_Barrier(m->inter);
  if (m->rank < m->remote_size) MPI_Send(&world_rank, 1, MPI_INT, m->rank, 4, dup);
  MPI_Comm_free(&dup);
  MPI_Wait(&request, &status);
  if (m->rank < m->remote_size)
    CHECK(in == m->theirs[m->rank] && status.MPI_SOURCE == m->rank, "%s: %d came from %d", what, in,
          status.MPI_SOURCE);
}

/* Freed while a collective is under way. */
static void freed_in_a_barrier(const Meeting* m, const char* what) {
  MPI_Comm dup;
  MPI_Request request;
  MPI_Comm_dup(m->inter, &dup);
  CHECK(MPI_Ibarrier(dup, &request) == MPI_SUCCESS, "%s: Ibarrier", what);
  MPI_Comm_free(&dup);
  CHECK(dup == MPI_COMM_NULL, "%s: the handle is left", what);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "%s: barrier after the free", what);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  for (int w = 0; w < kWays; ++w) {
    Meeting m = meet(&ways[w], 0);
    if (m.side >= 0) {
      duplicates(&m, ways[w].name);
      /* Natively, MPICH 5.0 hangs in a barrier of a part of an intercommunicator. */
      if (!m.natively) parts(&m, ways[w].name);
      by_node(&m, ways[w].name);
      over_itself(&m, ways[w].name);
      handlers(&m, ways[w].name);
      early(&m, ways[w].name);
      /* Natively, Open MPI 5.0 crashes. */
      if (!m.natively) freed_in_a_barrier(&m, ways[w].name);
      MPI_Comm_disconnect(&m.inter);
    }
    part(&m);
  }
  MPI_Comm_free_keyval(&keyval);
  return finish("communicators from intercommunicators");
}
