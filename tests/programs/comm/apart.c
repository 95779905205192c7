/* Traffic in one communicator stays apart from that in all others and from the program's own
   messages. Communicators that are made and freed meanwhile, in any order, change nothing.
   ranks: 4 5 7 */
#include <string.h>

#include "check.h"

enum { kComms = 5, kShort = 3, kLong = 30000 };

static int *members, *words[kComms], *sums[kComms];

static MPI_Comm with_collectives(const char* algorithms) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_coll", algorithms);
  MPI_Comm made;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Info_free(&info);
  return made;
}

static void fill(int which, int count) {
  for (int i = 0; i < count; ++i) words[which][i] = world_rank + which * 1000 + i;
  memset(sums[which], 0, sizeof(int) * kLong);
}

static void check_sums(int which, int count, const char* what) {
  const int n = world_size;
  for (int i = 0; i < count; ++i) {
    const int expected = n * (n - 1) / 2 + n * (which * 1000 + i);
    CHECK(sums[which][i] == expected, "%s: word %d of %d is %d, expected %d", what, i, which,
          sums[which][i], expected);
  }
}

static void begin_sum(int which, int count, MPI_Comm comm, MPI_Request* request) {
  fill(which, count);
  MPI_Iallreduce(words[which], sums[which], count, MPI_INT, MPI_SUM, comm, request);
}

/* Collectives of several communicators, begun and waited for in an order of each rank's own, beside
   receives that would take anything. */
static void several(const MPI_Comm* comms, int count, int round) {
  MPI_Request requests[kComms], any[kComms];
  int got[kComms], found;
  for (int i = 0; i < kComms; ++i)
    MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &any[i]);
  for (int i = 0; i < kComms; ++i) {
    const int which = (i + world_rank * 2 + round) % kComms;
    begin_sum(which, count, comms[which], &requests[which]);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[which], &found, MPI_STATUS_IGNORE);
    CHECK(!found, "there is a message that nobody sent");
  }
  for (int i = 0; i < kComms; ++i) {
    const int which = (i * 3 + world_rank) % kComms;
    MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    check_sums(which, count, "several collectives");
  }
  const int right = (world_rank + 1) % world_size,
            left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < kComms; ++i) {
    const int mine = world_rank * 10 + i;
    MPI_Send(&mine, 1, MPI_INT, right, i, comms[i]);
  }
  for (int i = 0; i < kComms; ++i) {
    MPI_Status status;
    MPI_Wait(&any[i], &status);
    CHECK(got[i] == left * 10 + i && status.MPI_SOURCE == left && status.MPI_TAG == i,
          "a receive of anything got %d of rank %d, tag %d", got[i], status.MPI_SOURCE,
          status.MPI_TAG);
  }
}

/* The handle goes while collectives are under way, and new communicators come at once. */
static void freed(int count) {
  MPI_Request requests[kComms];
  for (int i = 0; i < kComms; ++i) {
    MPI_Comm comm = with_collectives(i % 2 ? "allreduce=pipelined" : "allreduce=auto");
    begin_sum(i, count, comm, &requests[i]);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL, "MPI_Comm_free left the handle");
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    int sum = 0;
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == world_size * (world_size - 1) / 2, "the next communicator's sum is %d", sum);
    MPI_Comm_free(&comm);
  }
  for (int i = 0; i < kComms; ++i) {
    const int which = (i + world_rank) % kComms;
    MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    check_sums(which, count, "a collective of a freed communicator");
  }
}

/* Duplications behind collectives of their parent, which may be freed meanwhile. */
static void behind(int count) {
  MPI_Comm parent, copies[2];
  MPI_Request requests[5];
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  begin_sum(0, count, parent, &requests[0]);
  MPI_Comm_idup(parent, &copies[0], &requests[1]);
  begin_sum(1, count, parent, &requests[2]);
  MPI_Comm_idup(parent, &copies[1], &requests[3]);
  begin_sum(2, count, parent, &requests[4]);
  MPI_Comm_free(&parent);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent); /* which may get its handle */
  for (int i = 0; i < 5; ++i) MPI_Wait(&requests[(i + world_rank) % 5], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) check_sums(i, count, "a collective before or behind a duplication");
  for (int i = 0; i < 2; ++i) {
    prove(copies[i], members, world_size, "a duplicate made behind a collective");
    MPI_Comm_free(&copies[i]);
  }
  MPI_Comm_free(&parent);
}

/* Parts within clusters, made while a collective of the whole is under way. */
static void parts(int count) {
  MPI_Request request;
  MPI_Comm part;
  begin_sum(0, count, MPI_COMM_WORLD, &request);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  int mine = 1, all = 0, size;
  MPI_Comm_size(part, &size);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, part);
  CHECK(all == size, "a part of %d ranks counts %d", size, all);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_sums(0, count, "a collective beside a split");
  MPI_Comm_free(&part);
}

/* Groups that share some of their members, made in turns. */
static void groups(int round) {
  MPI_Group world, some;
  MPI_Comm made, previous = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int left_out = 0; left_out < world_size; ++left_out) {
    if (left_out == world_rank) continue;
    MPI_Group_excl(world, 1, &left_out, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, round + left_out * 40000 % 30000, &made);
    MPI_Group_free(&some);
    if (previous != MPI_COMM_NULL) MPI_Comm_free(&previous);
    int sum = 0;
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == world_size * (world_size - 1) / 2 - left_out, "without %d the sum is %d", left_out,
          sum);
    previous = made;
  }
  MPI_Comm_free(&previous);
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  members = malloc(sizeof(int) * (size_t)world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;
  for (int i = 0; i < kComms; ++i) {
    words[i] = malloc(sizeof(int) * kLong);
    sums[i] = malloc(sizeof(int) * kLong);
  }
  MPI_Comm comms[kComms];
  comms[0] = MPI_COMM_WORLD;
  comms[1] = with_collectives("allreduce=pipelined");
  comms[2] = with_collectives("allreduce=fan");
  comms[3] = with_collectives("allreduce=magpie");
  comms[4] = with_collectives("allreduce=rabenseifner");
  for (int round = 0; round < 10; ++round) {
    const int count = round % 2 ? kLong : kShort;
    several(comms, count, round);
    freed(count);
    behind(count);
    parts(count);
    groups(round);
  }
  for (int i = 1; i < kComms; ++i) MPI_Comm_free(&comms[i]);
  for (int i = 0; i < kComms; ++i) free(words[i]), free(sums[i]);
  free(members);
  return finish("apart");
}
