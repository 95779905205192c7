/* A rank revokes a communicator, frees it, and calls MPI no more, until another rank of its cluster
 * has left its own call there. So nobody receives what that one sends. It gets the error, and its
 * buffer is its own again. Then all go on, and no communicator gets messages of an earlier one. */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { LONGEST = 1 << 14, TAG = 7 }; /* docs/surviving.md has the length */

static MPI_Comm comm;
static int mate, in[LONGEST / sizeof(int)];
static char* out;
static int may_succeed; /* the library may have kept a copy itself */

static int end(int code, MPI_Request* request) {
  MPI_Status status;
  return code != MPI_SUCCESS ? code : MPI_Wait(request, &status);
}

static int ssend(void) { return MPI_Ssend(out, 1, MPI_CHAR, mate, TAG, comm); }
static int ssend_empty(void) { return MPI_Ssend(NULL, 0, MPI_CHAR, mate, TAG, comm); }
static int ssend_longest(void) { return MPI_Ssend(out, LONGEST, MPI_CHAR, mate, TAG, comm); }
static int send_longest(void) {
  may_succeed = 1;
  return MPI_Send(out, LONGEST, MPI_CHAR, mate, TAG, comm);
}
static int issend(void) {
  MPI_Request request;
  return end(MPI_Issend(out, 1000, MPI_CHAR, mate, TAG, comm, &request), &request);
}
static int issend_test(void) {
  MPI_Request request;
  int done = 0, code = MPI_Issend(out, 1, MPI_CHAR, mate, TAG, comm, &request);
  while (code == MPI_SUCCESS && !done) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return code;
}
static int issend_vector(void) {
  MPI_Request request;
  MPI_Datatype every_second;
  MPI_Type_vector(1000, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  const int code = MPI_Issend(out, 1, every_second, mate, TAG, comm, &request);
  MPI_Type_free(&every_second);
  return end(code, &request);
}
static int start(MPI_Request* request) {
  const int code = end(MPI_Start(request), request);
  MPI_Request_free(request);
  return code;
}
static int persistent_ssend(void) {
  MPI_Request request;
  MPI_Ssend_init(out, 1, MPI_CHAR, mate, TAG, comm, &request);
  return start(&request);
}
static int sendrecv(void) {
  return MPI_Sendrecv(out, LONGEST, MPI_CHAR, mate, TAG, in, 1, MPI_INT, mate, TAG, comm,
                      MPI_STATUS_IGNORE);
}
static int waitall(void) {
  MPI_Request all[3];
  MPI_Status statuses[3];
  MPI_Irecv(in, 1, MPI_INT, mate, TAG, comm, &all[0]);
  MPI_Irecv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &all[1]);
  MPI_Issend(out, 1, MPI_CHAR, mate, TAG, comm, &all[2]);
  if (MPI_Waitall(3, all, statuses) != MPI_ERR_IN_STATUS) return MPI_SUCCESS;
  for (int i = 0; i < 2; ++i) {
    if (statuses[i].MPI_ERROR != ISTHMUS_ERR_REVOKED) return statuses[i].MPI_ERROR;
  }
  return statuses[2].MPI_ERROR;
}

static int recv(void) { return MPI_Recv(in, 1, MPI_INT, mate, TAG, comm, MPI_STATUS_IGNORE); }
static int irecv(void) {
  MPI_Request request;
  return end(MPI_Irecv(in, LONGEST, MPI_CHAR, mate, TAG, comm, &request), &request);
}
static int irecv_any(void) {
  MPI_Request request;
  return end(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request), &request);
}
static int persistent_recv(void) {
  MPI_Request request;
  const int code = MPI_Recv_init(in, 1, MPI_INT, mate, TAG, comm, &request);
  return code != MPI_SUCCESS ? code : start(&request); /* the revocation may have come before */
}
static int probe(void) { return MPI_Probe(mate, TAG, comm, MPI_STATUS_IGNORE); }
static int mprobe_any(void) {
  MPI_Message message;
  return MPI_Mprobe(MPI_ANY_SOURCE, TAG, comm, &message, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  int (*call)(void);
  int sends;
} calls[] = {
    {"MPI_Ssend", ssend, 1},
    {"MPI_Ssend of nothing", ssend_empty, 1},
    {"a long MPI_Ssend", ssend_longest, 1},
    {"a long MPI_Send", send_longest, 1},
    {"MPI_Issend and MPI_Wait", issend, 1},
    {"MPI_Issend and MPI_Test", issend_test, 1},
    {"MPI_Issend of a vector", issend_vector, 1},
    {"MPI_Ssend_init", persistent_ssend, 1},
    {"MPI_Sendrecv", sendrecv, 1},
    {"MPI_Waitall", waitall, 1},
    {"MPI_Recv", recv, 0},
    {"MPI_Irecv", irecv, 0},
    {"MPI_Irecv from any", irecv_any, 0},
    {"MPI_Recv_init", persistent_recv, 0},
    {"MPI_Probe", probe, 0},
    {"MPI_Mprobe from any", mprobe_any, 0},
};

static void stay(int i, pid_t waits) {
  const size_t bytes = LONGEST + sizeof(int);
  out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  may_succeed = 0;
  const int code = calls[i].call();
  CHECK(code == ISTHMUS_ERR_REVOKED || (may_succeed && code == MPI_SUCCESS), "%s returns %d",
        calls[i].name, code);
  munmap(out, bytes);
  MPI_Comm_free(&comm);
  kill(waits, SIGUSR2);
}

static void leave(int i, const sigset_t* end_of_wait) {
  int signal;
  /* The message has come, but nobody receives it. */
  if (calls[i].sends) MPI_Probe(mate, TAG, comm, MPI_STATUS_IGNORE);
  isthmus_comm_revoke(comm);
  MPI_Comm_free(&comm);
  sigwait(end_of_wait, &signal);
}

int main(int argc, char** argv) {
  MPI_Comm near;
  sigset_t signals;
  int rank, size, near_rank, first;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  sigprocmask(SIG_BLOCK, &signals, NULL); /* in all threads, so that it waits for sigwait */
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  MPI_Comm_rank(near, &near_rank);
  first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, near);
  int other = -1, pid = getpid();
  if (first == 0 && near_rank < 2) {
    mate = 1 - rank;
    MPI_Sendrecv(&pid, 1, MPI_INT, 1 - near_rank, TAG, &other, 1, MPI_INT, 1 - near_rank, TAG, near,
                 MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < (int)(sizeof calls / sizeof *calls); ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (other >= 0 && near_rank == 0) stay(i, other);
    if (other >= 0 && near_rank == 1) leave(i, &signals);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "%s: no barrier", calls[i].name);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  MPI_Comm_free(&near);
  if (rank == 0) printf("%d ranks go on\n", size);
  MPI_Finalize();
  return 0;
}
