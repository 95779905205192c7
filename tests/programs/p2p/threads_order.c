/* MPI_THREAD_MULTIPLE: posting order decides even where a message that a wildcard could take is
   snatched by another thread. Rank 0 posts a wildcard and then a receive from rank 2; its other
   thread takes what it can of rank 1's messages. Messages from rank 2 must go to the two in the
   order in which they were posted. ranks: 4 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "p2p.h"

enum { kRounds = 400, kTag = 5, kGo = 6, kNear = 1, kFar = 2 };

static atomic_int over;
static int snatched;

/* Messages that rank kNear sends in a round: sometimes none, sometimes more than are taken. */
static int near_messages(int round) {
  const int drawn = (int)((unsigned)round * 2654435761u >> 30); /* 0 to 3 */
  return drawn == 0 ? 0 : drawn - 1;
}

static void* snatch(void* nothing) {
  int last = -1;
  while (!atomic_load(&over)) {
    int found = 0, value = -1;
    MPI_Message message;
    MPI_Improbe(kNear, kTag, WORLD, &found, &message, MPI_STATUS_IGNORE);
    if (!found) {
      sched_yield();
      continue;
    }
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(value > last, "message %d of rank %d came after %d", value, kNear, last);
    last = value, ++snatched;
  }
  return nothing;
}

static void collect(void) {
  pthread_t thread;
  int from_far = 0, from_near = 0, last_near = -1, value = -1, sent = 0;
  pthread_create(&thread, NULL, snatch, NULL);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int values[2] = {-1, -1}, flag = 0;
    sent += near_messages(round);
    MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, kTag, WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, kFar, kTag, WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Send(&round, 1, MPI_INT, kNear, kGo, WORLD);
    MPI_Send(&round, 1, MPI_INT, kFar, kGo, WORLD);
    MPI_Waitall(2, requests, statuses);
    if (statuses[0].MPI_SOURCE == kNear) {
      CHECK(values[0] > last_near, "round %d: message %d of rank %d came after %d", round,
            values[0], kNear, last_near);
      last_near = values[0], ++from_near;
    } else {
      CHECK(values[0] == from_far, "round %d: the wildcard got message %d of rank %d, expected %d",
            round, values[0], kFar, from_far);
      ++from_far;
    }
    CHECK(values[1] == from_far, "round %d: the second receive got message %d, expected %d", round,
          values[1], from_far);
    ++from_far;
  }
  atomic_store(&over, 1);
  pthread_join(thread, NULL);
  for (; from_far < 2 * kRounds; ++from_far)
    MPI_Recv(&value, 1, MPI_INT, kFar, kTag, WORLD, MPI_STATUS_IGNORE);
  CHECK(value == -1 || value == 2 * kRounds - 1, "the last message of rank %d is %d", kFar, value);
  for (from_near += snatched; from_near < sent; ++from_near)
    MPI_Recv(&value, 1, MPI_INT, kNear, kTag, WORLD, MPI_STATUS_IGNORE);
}

static void serve(int near) {
  for (int round = 0, number = 0; round < kRounds; ++round) {
    int go = -1;
    MPI_Recv(&go, 1, MPI_INT, 0, kGo, WORLD, MPI_STATUS_IGNORE);
    CHECK(go == round, "round %d began as %d", round, go);
    for (int i = near ? near_messages(round) : 2; i > 0; --i, ++number)
      MPI_Send(&number, 1, MPI_INT, 0, kTag, WORLD);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  if (provided == MPI_THREAD_MULTIPLE && size > kFar) {
    if (rank == 0) collect();
    if (rank == kNear || rank == kFar) serve(rank == kNear);
  }
  return finish("threads_order");
}
