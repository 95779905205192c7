/* MPI_Comm_idup: several at once, on several communicators, completed in orders that differ from
   rank to rank, with other traffic between. */
#include "check.h"

static int copies;

static int count_copy(MPI_Comm old, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)old, (void)keyval, (void)extra;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int n = world_size;
  int *members = malloc(sizeof(int) * n), *reversed = malloc(sizeof(int) * n);
  for (int i = 0; i < n; ++i) {
    members[i] = i;
    reversed[i] = n - 1 - i;
  }
  int keyval;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm back, parents[4], made[4];
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &back);
  MPI_Comm_set_attr(back, keyval, (void*)9);
  for (int i = 0; i < 4; ++i) parents[i] = i % 2 ? back : MPI_COMM_WORLD;

  for (int round = 0; round < 5; ++round) {
    MPI_Request requests[6];
    for (int i = 0; i < 4; ++i) MPI_Comm_idup(parents[i], &made[i], &requests[i]);
    const int right = (world_rank + 1) % n, left = (world_rank + n - 1) % n;
    int out = world_rank, in = -1;
    MPI_Isend(&out, 1, MPI_INT, right, 1, back, &requests[4]);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, back, &requests[5]);
    (void)left;
    if (round == 0) {
      MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    } else if (round == 1) {
      for (int i = 0; i < 6; ++i) MPI_Wait(&requests[(i + world_rank) % 6], MPI_STATUS_IGNORE);
    } else if (round == 2) {
      int done = 0;
      while (!done) MPI_Testall(6, requests, &done, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 6; ++i) {
        int which;
        MPI_Waitany(6, requests, &which, MPI_STATUS_IGNORE);
        CHECK(which >= 0 && which < 6, "MPI_Waitany gave %d", which);
      }
    }
    for (int i = 0; i < 6; ++i)
      CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is left after round %d", i, round);
    for (int i = 0; i < 4; ++i) {
      prove(made[i], i % 2 ? reversed : members, n, "a duplicate made without blocking");
      int likeness;
      MPI_Comm_compare(made[i], parents[i], &likeness);
      CHECK(likeness == MPI_CONGRUENT, "the duplicate is not congruent to its parent");
      void* value = NULL;
      int found = 0;
      MPI_Comm_get_attr(made[i], keyval, &value, &found);
      CHECK(found == i % 2 && (!found || value == (void*)9), "the attribute did not come along");
    }
    for (int i = 0; i < 4; ++i) MPI_Comm_free(&made[(i * 3 + round) % 4]);
  }
  CHECK(copies == 10, "the copy function ran %d times, expected 10", copies);
  MPI_Comm_free(&back);
  MPI_Comm_free_keyval(&keyval);
  free(members), free(reversed);
  return finish("idup");
}
