/* Probes and matched probes, near and far, named and wild. ranks: 2 4 */
#include "p2p.h"

static void ask(int from, int n, int tag) {
  int what[2] = {n, tag};
  MPI_Send(what, 2, MPI_INT, from, 900, WORLD);
}

static void answer(void) {
  for (;;) {
    int what[2];
    MPI_Recv(what, 2, MPI_INT, 0, 900, WORLD, MPI_STATUS_IGNORE);
    if (what[0] < 0) return;
    int* data = malloc(sizeof(int) * (size_t)(what[0] + 1));
    fill(data, what[0], rank, 0, what[1]);
    MPI_Send(data, what[0], MPI_INT, 0, what[1], WORLD);
    free(data);
  }
}

/* Only functions that complete several requests set it (MPI-4.1 section 3.2.5). */
enum { kUntouched = 77 };
static void check_error_field(const MPI_Status* status) {
  CHECK(status->MPI_ERROR == kUntouched, "a probe set MPI_ERROR of its status to %d",
        status->MPI_ERROR);
}

static void plain(int from, int wild, int n, int tag, int blocking) {
  MPI_Status status;
  status.MPI_ERROR = kUntouched;
  const int source = wild ? MPI_ANY_SOURCE : from;
  ask(from, n, tag);
  if (blocking) {
    MPI_Probe(source, wild ? MPI_ANY_TAG : tag, WORLD, &status);
  } else {
    int flag = 0;
    while (!flag) MPI_Iprobe(source, wild ? MPI_ANY_TAG : tag, WORLD, &flag, &status);
  }
  check_status(&status, from, tag, n, MPI_INT, "a probe");
  check_error_field(&status);
  int* data = malloc(sizeof(int) * (size_t)(n + 1));
  MPI_Recv(data, n, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD, &status);
  check_status(&status, from, tag, n, MPI_INT, "the receive after a probe");
  check_data(data, n, from, 0, tag, "the receive after a probe");
  free(data);
}

static void matched(int from, int wild, int n, int tag, int blocking, int blocking_receive) {
  MPI_Status status;
  status.MPI_ERROR = kUntouched;
  MPI_Message message = MPI_MESSAGE_NULL;
  const int source = wild ? MPI_ANY_SOURCE : from;
  ask(from, n, tag);
  if (blocking) {
    MPI_Mprobe(source, wild ? MPI_ANY_TAG : tag, WORLD, &message, &status);
  } else {
    int flag = 0;
    while (!flag) MPI_Improbe(source, wild ? MPI_ANY_TAG : tag, WORLD, &flag, &message, &status);
  }
  check_error_field(&status);
  CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC, "no message handle");
  check_status(&status, from, tag, n, MPI_INT, "a matched probe");
  int flag = 1;
  MPI_Iprobe(from, tag, WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag, "a matched message is still there for MPI_Iprobe");
  int* data = malloc(sizeof(int) * (size_t)(n + 1));
  if (blocking_receive) {
    MPI_Mrecv(data, n, MPI_INT, &message, &status);
  } else {
    MPI_Request request;
    MPI_Imrecv(data, n, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
  }
  CHECK(message == MPI_MESSAGE_NULL, "the message handle is not null after its receive");
  check_status(&status, from, tag, n, MPI_INT, "a matched receive");
  check_data(data, n, from, 0, tag, "a matched receive");
  free(data);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (rank == 0) {
    static const int sizes[] = {0, 3, 100000};
    for (int from = 1; from < size; ++from) {
      for (int s = 0; s < 3; ++s)
        for (int bits = 0; bits < 8; ++bits) {
          const int tag = 10 + s * 8 + bits;
          plain(from, bits & 1, sizes[s], tag, bits & 2);
          matched(from, bits & 1, sizes[s], tag, bits & 2, bits & 4);
        }
    }
    for (int r = 1; r < size; ++r) ask(r, -1, 0);
  } else {
    answer();
  }

  MPI_Status status;
  MPI_Message message;
  int flag = 0, x = 3;
  MPI_Probe(MPI_PROC_NULL, 1, WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "a probe of MPI_PROC_NULL has source %d",
        status.MPI_SOURCE);
  MPI_Improbe(MPI_PROC_NULL, 1, WORLD, &flag, &message, &status);
  CHECK(flag && message == MPI_MESSAGE_NO_PROC, "MPI_Improbe of MPI_PROC_NULL gave no message");
  MPI_Mrecv(&x, 1, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && x == 3 && status.MPI_SOURCE == MPI_PROC_NULL,
        "MPI_Mrecv of MPI_MESSAGE_NO_PROC");

  /* Two messages held at once, received in the other order. */
  all_here(1);
  if (rank == size - 1) {
    for (int i = 0; i < 2; ++i) MPI_Send(&i, 1, MPI_INT, 0, 40, WORLD);
  } else if (rank == 0) {
    MPI_Message both[2];
    int got[2];
    for (int i = 0; i < 2; ++i) MPI_Mprobe(MPI_ANY_SOURCE, 40, WORLD, &both[i], &status);
    for (int i = 1; i >= 0; --i) MPI_Mrecv(&got[i], 1, MPI_INT, &both[i], &status);
    CHECK(got[0] == 0 && got[1] == 1, "matched messages mixed up: %d, %d", got[0], got[1]);
  }
  return finish("probe");
}
