/* MPI-4.1 section 3.8.1: a probe for any source finds the message that a receive at the same point
   gets. It finds this message again until it is received, whatever comes meanwhile. The standard
   leaves it to a library which of several sources that is; Open MPI asks its peers in turn, so that
   the program looks on only where the ranks are in several clusters. ranks: 4 6 */
#include "p2p.h"

enum {
  kTag = 50,
  kAsk = 900,
  kGo = 901,
  kLater = 51,
  kFirst = 60,
  kFlood = 70,
  kFlooded = 71,
  kEach = 20
};
enum { kForms = 6 };

static int data[16];

static int count_of(const MPI_Status* status) {
  int n = -1;
  MPI_Get_count(status, MPI_INT, &n);
  return n;
}

/* No other message comes before rank 0 says so: it probes for any tag. */
static void until_told(void) {
  if (rank == 0) {
    for (int r = 1; r < size; ++r) MPI_Send(NULL, 0, MPI_INT, r, kGo, WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, kGo, WORLD, MPI_STATUS_IGNORE);
  }
}

/* Receives n elements from any source. */
static void receive(int form, int n, int tag, MPI_Status* status) {
  MPI_Request request;
  MPI_Message message;
  switch (form) {
    case 0:
      MPI_Recv(data, n, MPI_INT, MPI_ANY_SOURCE, tag, WORLD, status);
      break;
    case 1:
      MPI_Irecv(data, n, MPI_INT, MPI_ANY_SOURCE, tag, WORLD, &request);
      MPI_Wait(&request, status);
      break;
    case 2:
      MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, data, n, MPI_INT, MPI_ANY_SOURCE, tag, WORLD,
                   status);
      break;
    case 3:
      MPI_Recv_init(data, n, MPI_INT, MPI_ANY_SOURCE, tag, WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, status);
      MPI_Request_free(&request);
      break;
    case 4:
      MPI_Mprobe(MPI_ANY_SOURCE, tag, WORLD, &message, status);
      MPI_Mrecv(data, n, MPI_INT, &message, status);
      break;
    default:
      MPI_Sendrecv_replace(data, n, MPI_INT, MPI_PROC_NULL, 1, MPI_ANY_SOURCE, tag, WORLD, status);
      break;
  }
}

/* Messages of different lengths from all, that have all come. */
static void again_and_received(int form) {
  all_here(1);
  if (rank != 0) {
    fill(data, rank, rank, 0, form);
    MPI_Send(data, rank, MPI_INT, 0, kTag, WORLD);
    until_told();
    return;
  }
  for (int r = 1; r < size; ++r) MPI_Probe(r, kTag, WORLD, MPI_STATUS_IGNORE);
  const int asked = form & 1 ? kTag : MPI_ANY_TAG;
  for (int k = 1; k < size; ++k) {
    MPI_Status first, second, got;
    MPI_Probe(MPI_ANY_SOURCE, asked, WORLD, &first);
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, asked, WORLD, &flag, &second);
    CHECK(flag, "what a probe had found is not there for another");
    CHECK(second.MPI_SOURCE == first.MPI_SOURCE, "two probes found the messages of %d and %d",
          first.MPI_SOURCE, second.MPI_SOURCE);
    receive(form, count_of(&second), asked, &got);
    check_status(&got, first.MPI_SOURCE, kTag, first.MPI_SOURCE, MPI_INT, "what a probe had found");
    check_data(data, first.MPI_SOURCE, first.MPI_SOURCE, 0, form, "what a probe had found");
  }
  until_told();
}

static void ask(int r) { MPI_Send(NULL, 0, MPI_INT, r, kAsk, WORLD); }
static void answer(int tag) {
  MPI_Recv(NULL, 0, MPI_INT, 0, kAsk, WORLD, MPI_STATUS_IGNORE);
  fill(data, rank, rank, 0, tag);
  MPI_Send(data, rank, MPI_INT, 0, tag, WORLD);
}

/* The message of `early` is found; then those of all others come. */
static void others_come_later(int early) {
  if (rank != 0) {
    answer(kLater);
    return;
  }
  MPI_Status status;
  ask(early);
  MPI_Probe(MPI_ANY_SOURCE, kLater, WORLD, &status);
  CHECK(status.MPI_SOURCE == early, "a probe found rank %d, but only %d has sent",
        status.MPI_SOURCE, early);
  for (int r = 1; r < size; ++r)
    if (r != early) ask(r);
  for (int r = 1; r < size; ++r) MPI_Probe(r, kLater, WORLD, MPI_STATUS_IGNORE);
  receive(0, early, kLater, &status);
  check_status(&status, early, kLater, early, MPI_INT, "a message that was found alone");
  for (int r = 1; r < size; ++r)
    if (r != early) MPI_Recv(data, r, MPI_INT, r, kLater, WORLD, MPI_STATUS_IGNORE);
}

/* The found message may not overtake an earlier one of its sender. */
static void found_with_a_later_tag(int sender) {
  if (rank == sender) {
    for (int tag = kFirst; tag < kFirst + 2; ++tag) MPI_Send(&tag, 1, MPI_INT, 0, tag, WORLD);
  }
  if (rank != 0) {
    until_told();
    return;
  }
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, kFirst + 1, WORLD, &status);
  for (int tag = kFirst; tag < kFirst + 2; ++tag) {
    MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    check_status(&status, sender, tag, 1, MPI_INT, "in the order in which they were sent");
  }
  until_told();
}

/* A probed message is received by name: no cluster hides the others by sending much. */
static void none_hides_another(void) {
  long mine = 0, all[16];
  for (const char* name = getenv("ISTHMUS_CLUSTER"); *name; ++name) mine = mine * 131 + *name;
  MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, WORLD);
  if (rank != 0) {
    for (int i = 0; i < kEach; ++i) MPI_Send(&i, 1, MPI_INT, 0, kFlood, WORLD);
    MPI_Send(NULL, 0, MPI_INT, 0, kFlooded, WORLD);
    return;
  }
  for (int r = 1; r < size; ++r) MPI_Recv(NULL, 0, MPI_INT, r, kFlooded, WORLD, MPI_STATUS_IGNORE);
  int near = 0;
  for (int i = 0; i < (size - 1) * kEach; ++i) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, kFlood, WORLD, &status);
    MPI_Recv(data, 1, MPI_INT, status.MPI_SOURCE, kFlood, WORLD, &status);
    if (i < kEach && all[status.MPI_SOURCE] == mine) ++near;
  }
  CHECK(near > kEach / 4 && near < kEach - kEach / 4,
        "of the first %d messages, %d were from this cluster", (int)kEach, near);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (spans_clusters(WORLD)) {
    for (int form = 0; form < kForms; ++form) again_and_received(form);
    for (int early = 1; early < size; ++early) {
      all_here(2);
      others_come_later(early);
      all_here(3);
      found_with_a_later_tag(early);
    }
    all_here(4);
    none_hides_another();
  }
  return finish("probed");
}
