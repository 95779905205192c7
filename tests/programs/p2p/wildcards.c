/* Receives from any source, near and far: completeness, order per sender, and posting order against
   named receives. Rank 0 receives; all others send. ranks: 2 3 4 5 */
#include "p2p.h"

static void command(int to, int what) { MPI_Send(&what, 1, MPI_INT, to, 900, WORLD); }
static int commanded(void) {
  int what;
  MPI_Recv(&what, 1, MPI_INT, 0, 900, WORLD, MPI_STATUS_IGNORE);
  return what;
}
static void send_value(int value, int tag) { MPI_Send(&value, 1, MPI_INT, 0, tag, WORLD); }

enum { kMany = 50 };

static void many_blocking(void) {
  if (rank > 0) {
    for (int i = 0; i < kMany; ++i) send_value(i, 1);
    return;
  }
  int* next = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < kMany * (size - 1); ++i) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &status);
    CHECK(status.MPI_SOURCE > 0 && status.MPI_SOURCE < size, "source %d", status.MPI_SOURCE);
    check_status(&status, status.MPI_SOURCE, 1, 1, MPI_INT, "a wildcard");
    CHECK(value == next[status.MPI_SOURCE], "message %d of rank %d came when %d was due", value,
          status.MPI_SOURCE, next[status.MPI_SOURCE]);
    ++next[status.MPI_SOURCE];
  }
  free(next);
}

static void many_nonblocking(void) {
  if (rank > 0) {
    for (int i = 0; i < kMany; ++i) send_value(i, 2 + i % 3);
    commanded(); /* what comes next would match, too */
    return;
  }
  const int n = kMany * (size - 1);
  int* values = malloc(sizeof(int) * (size_t)n);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)n);
  MPI_Status* statuses = malloc(sizeof(MPI_Status) * (size_t)n);
  for (int i = 0; i < n; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &requests[i]);
  MPI_Waitall(n, requests, statuses);
  for (int r = 1; r < size; ++r) command(r, 0);
  int* next = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < n; ++i) {
    const int source = statuses[i].MPI_SOURCE;
    CHECK(source > 0 && source < size, "source %d", source);
    CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is not null", i);
    check_status(&statuses[i], source, 2 + values[i] % 3, 1, MPI_INT, "a wildcard");
    CHECK(values[i] == next[source], "receive %d got message %d of rank %d when %d was due", i,
          values[i], source, next[source]);
    ++next[source];
  }
  free(values), free(requests), free(statuses), free(next);
}

/* The wildcard was posted first, so it gets the first message, from near and from far. */
static void wildcard_before_named(int sender) {
  if (rank == sender) {
    commanded();
    send_value(1, 5);
    send_value(2, 5);
  }
  if (rank != 0) return;
  int a = 0, b = 0;
  MPI_Request first, second;
  MPI_Status status;
  MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &first);
  MPI_Irecv(&b, 1, MPI_INT, sender, 5, WORLD, &second);
  command(sender, 0);
  MPI_Wait(&second, &status);
  check_status(&status, sender, 5, 1, MPI_INT, "the named receive");
  MPI_Wait(&first, &status);
  check_status(&status, sender, 5, 1, MPI_INT, "the wildcard");
  CHECK(a == 1 && b == 2, "from rank %d: the wildcard got %d, the later named receive %d", sender,
        a, b);
}

static void named_before_wildcard(int sender) {
  if (rank == sender) {
    commanded();
    send_value(1, 5);
    send_value(2, 5);
  }
  if (rank != 0) return;
  int a = 0, b = 0;
  MPI_Request requests[2];
  MPI_Irecv(&a, 1, MPI_INT, sender, 5, WORLD, &requests[0]);
  MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &requests[1]);
  command(sender, 0);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(a == 1 && b == 2, "from rank %d: the named receive got %d, the later wildcard %d", sender,
        a, b);
}

/* A later receive may overtake where the earlier one does not match. */
static void tags_decide(int sender) {
  if (rank == sender) {
    commanded();
    send_value(7, 7);
    commanded();
    send_value(51, 5);
    send_value(52, 5);
  }
  if (rank != 0) return;
  int wildcard = 0, named = 0, blocking = 0;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Irecv(&wildcard, 1, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &requests[0]);
  MPI_Irecv(&named, 1, MPI_INT, sender, MPI_ANY_TAG, WORLD, &requests[1]);
  command(sender, 0);
  MPI_Wait(&requests[1], &status);
  check_status(&status, sender, 7, 1, MPI_INT, "the named receive with any tag");
  CHECK(named == 7, "the named receive with any tag got %d", named);
  int flag = 1;
  MPI_Test(&requests[0], &flag, &status);
  CHECK(!flag, "the wildcard with tag 5 completed, but no such message was sent");
  command(sender, 0);
  MPI_Recv(&blocking, 1, MPI_INT, sender, 5, WORLD, &status);
  check_status(&status, sender, 5, 1, MPI_INT, "the blocking receive");
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(wildcard == 51 && blocking == 52,
        "from rank %d: the wildcard got %d, the later blocking receive %d", sender, wildcard,
        blocking);
}

/* A probe does not find a message that an earlier wildcard will take. */
static void probe_respects_wildcard(int sender) {
  if (rank == sender) {
    commanded();
    send_value(1, 6);
    send_value(2, 8);
    commanded();
    send_value(3, 6);
  }
  if (rank != 0) return;
  int a = 0, b = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 6, WORLD, &request);
  command(sender, 0);
  MPI_Probe(sender, 8, WORLD, &status);
  int flag = 1;
  MPI_Iprobe(sender, 6, WORLD, &flag, &status);
  CHECK(!flag, "MPI_Iprobe reported a message that belongs to an earlier wildcard");
  MPI_Recv(&b, 1, MPI_INT, sender, 8, WORLD, MPI_STATUS_IGNORE);
  CHECK(b == 2, "the message with tag 8 was %d", b);
  command(sender, 0);
  MPI_Probe(MPI_ANY_SOURCE, 6, WORLD, &status);
  check_status(&status, sender, 6, 1, MPI_INT, "the probe");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(&b, 1, MPI_INT, status.MPI_SOURCE, 6, WORLD, MPI_STATUS_IGNORE);
  CHECK(a == 1 && b == 3, "the wildcard got %d, the receive after the probe %d", a, b);
}

/* Wildcards of several tags, served in any order; a chain of receives behind them. */
static void chain(int sender) {
  if (rank == sender) {
    commanded();
    for (int i = 0; i < 6; ++i) send_value(i, 10 + i % 2);
  }
  if (rank != 0) return;
  int got[6];
  MPI_Request requests[6];
  MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 11, WORLD, &requests[0]);          /* 1 */
  MPI_Irecv(&got[1], 1, MPI_INT, sender, MPI_ANY_TAG, WORLD, &requests[1]);         /* 0 */
  MPI_Irecv(&got[2], 1, MPI_INT, sender, 11, WORLD, &requests[2]);                  /* 3 */
  MPI_Irecv(&got[3], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &requests[3]); /* 2 */
  MPI_Irecv(&got[4], 1, MPI_INT, sender, 10, WORLD, &requests[4]);                  /* 4 */
  MPI_Irecv(&got[5], 1, MPI_INT, MPI_ANY_SOURCE, 11, WORLD, &requests[5]);          /* 5 */
  command(sender, 0);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  static const int expected[] = {1, 0, 3, 2, 4, 5};
  for (int i = 0; i < 6; ++i)
    CHECK(got[i] == expected[i], "from rank %d: receive %d got message %d, expected %d", sender, i,
          got[i], expected[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  many_blocking();
  all_here(800);
  many_nonblocking();
  all_here(801);
  for (int sender = 1; sender < size; ++sender) {
    wildcard_before_named(sender);
    named_before_wildcard(sender);
    tags_decide(sender);
    probe_respects_wildcard(sender);
    chain(sender);
    /* Until here the others are silent: what they send next would match, too. */
    for (int r = 1; rank == 0 && r < size; ++r) command(r, 0);
    if (rank != 0) commanded();
    all_here(802);
  }
  return finish("wildcards");
}
