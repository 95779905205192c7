/* MPI_Comm_idup is local: nobody waits for it in another order than the program's. Every pair of
   neighbours begins the same calls in opposite orders.
   ranks: 2 4 5 */
#include "check.h"

/* Duplicates natively before the other call, or after it. */
static int idup_first(int round) { return (world_rank + round) % 2; }

static void wait_and_prove(MPI_Request* request, MPI_Comm* made, const int* members) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  prove(*made, members, world_size, "a duplicate made without blocking");
  MPI_Comm_free(made);
}

/* Has the libraries move on between two calls. */
static void look_around(void) {
  for (int i = 0; i < 100; ++i) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
}

static void with_create_group(const int* members, int tag, int round) {
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm copy, grouped;
  MPI_Request request;
  if (idup_first(round)) {
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    look_around();
  }
  MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &grouped);
  MPI_Barrier(grouped);
  if (!idup_first(round)) MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  wait_and_prove(&request, &copy, members);
  prove(grouped, members, world_size, "the communicator of a group");
  MPI_Comm_free(&grouped);
  MPI_Group_free(&group);
}

/* Blocking creations on a communicator that came into being after the duplication's parent. */
static void with_dup_and_split(MPI_Comm other, const int* members, int round) {
  MPI_Comm copy, second, part;
  MPI_Request request;
  if (idup_first(round)) {
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    look_around();
  }
  MPI_Comm_dup(other, &second);
  MPI_Comm_split(other, 0, world_rank, &part);
  if (!idup_first(round)) MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  wait_and_prove(&request, &copy, members);
  prove(second, members, world_size, "a duplicate");
  prove(part, members, world_size, "a part");
  MPI_Comm_free(&second);
  MPI_Comm_free(&part);
}

/* The last rank, and a neighbour of rank 0, begin nothing before rank 0 has begun it all. */
static void several(const int* members) {
  enum { kCopies = 4 };
  MPI_Comm copies[kCopies];
  MPI_Request requests[kCopies];
  int token = 0;
  const int late = world_rank == 1 || world_rank == world_size - 1;
  if (late) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kCopies; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
  for (int to = 1; world_rank == 0 && to < world_size; ++to) {
    if (to == 1 || to == world_size - 1) MPI_Send(&token, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  }
  MPI_Waitall(kCopies, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kCopies; ++i) {
    prove(copies[i], members, world_size, "one of several duplicates");
    MPI_Comm_free(&copies[i]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int* members = malloc(sizeof(int) * (size_t)world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int round = 0; round < 6; ++round) {
    with_create_group(members, round % 3 * 7, round);
    with_dup_and_split(other, members, round);
    several(members);
  }
  MPI_Comm_free(&other);
  free(members);
  return finish("idup_order");
}
