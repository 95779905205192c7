/* Communicators of one process are revoked while messages from itself to itself are under way, and
 * while threads wait for some. All end with the error. Messages that begin before go as ever. */
#include <pthread.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { MANY = 1 << 20, MOST = 16, THREADS = 4 };

static MPI_Comm comm;
static MPI_Request requests[MOST];
static char data[MOST][MANY], alone[THREADS];
static int number, codes[THREADS];

static char* next(void) { return data[number]; }

static void begin_all(void) {
  number = 0;
  MPI_Irecv(next(), 1, MPI_CHAR, 0, 1, comm, &requests[number]), ++number;
  MPI_Irecv(next(), 1, MPI_CHAR, MPI_ANY_SOURCE, 2, comm, &requests[number]), ++number;
  MPI_Issend(next(), 1, MPI_CHAR, 0, 3, comm, &requests[number]), ++number;
  MPI_Issend(next(), MANY, MPI_CHAR, 0, 4, comm, &requests[number]), ++number;
  MPI_Recv_init(next(), 1, MPI_CHAR, 0, 5, comm, &requests[number]), ++number;
  MPI_Ssend_init(next(), 1, MPI_CHAR, 0, 6, comm, &requests[number]), ++number;
  MPI_Startall(2, &requests[number - 2]);
#if MPI_VERSION >= 4
  MPI_Precv_init(next(), 2, 1, MPI_CHAR, 0, 7, comm, MPI_INFO_NULL, &requests[number]), ++number;
  MPI_Psend_init(next(), 2, 1, MPI_CHAR, 0, 8, comm, MPI_INFO_NULL, &requests[number]), ++number;
  MPI_Startall(2, &requests[number - 2]);
  MPI_Isendrecv(next(), MANY, MPI_CHAR, 0, 9, next(), 1, MPI_CHAR, 0, 10, comm, &requests[number]);
  ++number;
#endif
}

static void* wait_in(void* of) {
  const int i = (int)(long)of;
  char* const byte = &alone[i];
  MPI_Message message;
  if (i == 0) codes[i] = MPI_Recv(byte, 1, MPI_CHAR, 0, 11, comm, MPI_STATUS_IGNORE);
  if (i == 1) codes[i] = MPI_Probe(0, 12, comm, MPI_STATUS_IGNORE);
  if (i == 2) codes[i] = MPI_Mprobe(MPI_ANY_SOURCE, 13, comm, &message, MPI_STATUS_IGNORE);
  if (i == 3) codes[i] = MPI_Ssend(byte, 1, MPI_CHAR, 0, 14, comm);
  return NULL;
}

static void go_as_ever(void) {
  int out[2] = {1, 2}, in[2] = {0, 0}, i;
  MPI_Status status;
  MPI_Request both[2];
  MPI_Recv_init(&in[0], 1, MPI_INT, 0, 1, comm, &both[0]);
  MPI_Send_init(&out[0], 1, MPI_INT, 0, 1, comm, &both[1]);
  for (i = 0; i < 2; ++i) {
    in[0] = 0;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 1, "round %d: %d", i, in[0]);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Isend(&out[1], 1, MPI_INT, 0, 2, comm, &both[0]);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 2, "from %d", status.MPI_SOURCE);
  MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(status.MPI_SOURCE == 0 && in[1] == 2, "%d from %d", in[1], status.MPI_SOURCE);
  MPI_Wait(&both[0], MPI_STATUS_IGNORE);
}

static void revoke(int threads) {
  MPI_Status statuses[MOST];
  pthread_t waiting[THREADS];
  long i;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  go_as_ever();
  begin_all();
  for (i = 0; i < threads; ++i) pthread_create(&waiting[i], NULL, wait_in, (void*)i);
  CHECK(isthmus_comm_revoke(comm) == MPI_SUCCESS, "it cannot be revoked");
  for (i = 0; i < threads; ++i) {
    pthread_join(waiting[i], NULL);
    CHECK(codes[i] == ISTHMUS_ERR_REVOKED, "thread %ld: code %d", i, codes[i]);
  }
  CHECK(MPI_Waitall(number, requests, statuses) == MPI_ERR_IN_STATUS, "no error");
  for (i = 0; i < number; ++i) {
    CHECK(statuses[i].MPI_ERROR == ISTHMUS_ERR_REVOKED, "request %ld: code %d", i,
          statuses[i].MPI_ERROR);
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  }
}

int main(int argc, char** argv) {
  int rank, size, level, never = 0;
  MPI_Request left;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Recv_init(&never, 1, MPI_INT, 0, 1, comm, &left);
  MPI_Comm_free(&comm); /* while a request needs it */
  MPI_Start(&left);
  MPI_Cancel(&left);
  MPI_Wait(&left, MPI_STATUS_IGNORE);
  MPI_Request_free(&left);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
  revoke(level == MPI_THREAD_MULTIPLE ? THREADS : 0);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  go_as_ever();
  revoke(0);
  MPI_Comm_disconnect(&comm);
  comm = MPI_COMM_SELF;
  revoke(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks go on\n", size);
  MPI_Finalize();
  return 0;
}
