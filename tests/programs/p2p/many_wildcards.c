/* Thousands of receives from any source are outstanding at once, with distinct tags and with one
   tag. Messages come in order, reversed and shuffled, from near and far. Before them come messages
   that match none of the receives. It takes no longer than as many named ones would. ranks: 4 */
#include "p2p.h"

enum { kMany = 4000, kBlocking = 32000 - 1 };

static int in[kMany], out[kMany], order[kMany];
static MPI_Request q[kMany];
static MPI_Status statuses[kMany];

static void shuffle(int how) {
  for (int i = 0; i < kMany; ++i) order[i] = how == 1 ? kMany - 1 - i : i;
  unsigned state = 7;
  for (int i = kMany - 1; how == 2 && i > 0; --i) {
    state = state * 1103515245u + 12345u;
    const int j = (int)(state >> 8) % (i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Rank 0 receives; `from` sends. If `blocked`, its first message is received last, by name. */
static void distinct_tags(int from, int how, int blocked) {
  int last = 0;
  shuffle(how);
  if (rank == 0)
    for (int i = 0; i < kMany; ++i) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, WORLD, &q[i]);
  all_here(32001);
  if (rank == from) {
    if (blocked) MPI_Send(&from, 1, MPI_INT, 0, kBlocking, WORLD);
    for (int i = 0; i < kMany; ++i) {
      out[i] = element(from, 0, how, order[i]);
      MPI_Send(&out[i], 1, MPI_INT, 0, order[i], WORLD);
    }
  }
  if (rank != 0) return;
  MPI_Waitall(kMany, q, statuses);
  for (int i = 0; i < kMany; ++i) {
    CHECK(in[i] == element(from, 0, how, i), "from %d: message with tag %d is %d", from, i, in[i]);
    CHECK(statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == i, "status of tag %d", i);
  }
  if (blocked) MPI_Recv(&last, 1, MPI_INT, from, kBlocking, WORLD, MPI_STATUS_IGNORE);
  if (blocked) CHECK(last == from, "the message that was in the way is %d", last);
}

/* All others send at the same time with one tag; each sender's messages keep their order. */
static void one_tag(void) {
  const int each = kMany / (size - 1);
  if (rank == 0)
    for (int i = 0; i < each * (size - 1); ++i)
      MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &q[i]);
  all_here(32001);
  for (int i = 0; rank != 0 && i < each; ++i) MPI_Send(&i, 1, MPI_INT, 0, 5, WORLD);
  if (rank != 0) return;
  MPI_Waitall(each * (size - 1), q, statuses);
  int next[64] = {0};
  for (int i = 0; i < each * (size - 1); ++i) {
    const int from = statuses[i].MPI_SOURCE;
    CHECK(in[i] == next[from], "message %d of rank %d overtook %d", in[i], from, next[from]);
    ++next[from];
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int near = 1, far = size - 1;
  for (int how = 0; how < 3; ++how) {
    distinct_tags(near, how, 0);
    distinct_tags(far, how, 0);
  }
  distinct_tags(near, 2, 1);
  distinct_tags(far, 2, 1);
  one_tag();
  return finish("many_wildcards");
}
