/* Communicators of one process are revoked while messages from itself to itself are under way, and
 * while threads wait for some. All end with the error. Messages that begin before go as ever. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { MANY = 1 << 20, MOST = 16, THREADS = 4, ROUNDS = 10, COPIES = 100, YIELDS = 1000 };

static MPI_Comm comm;
static MPI_Request requests[MOST];
static char data[MOST][MANY], alone[THREADS];
static char buffered[2 * COPIES * (MPI_BSEND_OVERHEAD + 8)];
static int number, codes[THREADS];
static atomic_int inside;

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
  MPI_Isendrecv(next(), MANY, MPI_CHAR, 0, 9, data[MOST - 1], 1, MPI_CHAR, 0, 10, comm,
                &requests[number]);
  ++number;
#endif
}

static void* wait_in(void* of) {
  const int i = (int)(long)of;
  char* const byte = &alone[i];
  MPI_Message message;
  atomic_fetch_add(&inside, 1);
  if (i == 0) codes[i] = MPI_Recv(byte, 1, MPI_CHAR, 0, 11, comm, MPI_STATUS_IGNORE);
  if (i == 1) codes[i] = MPI_Probe(0, 12, comm, MPI_STATUS_IGNORE);
  if (i == 2) codes[i] = MPI_Mprobe(MPI_ANY_SOURCE, 13, comm, &message, MPI_STATUS_IGNORE);
  if (i == 3) codes[i] = MPI_Ssend(byte, 1, MPI_CHAR, 0, 14, comm);
  return NULL;
}

/* They are about to call MPI, and get time for it. */
static void let_begin(int threads) {
  int i;
  while (atomic_load(&inside) < threads) sched_yield();
  for (i = 0; threads > 0 && i < YIELDS; ++i) sched_yield();
}

static void send_partitions(void) {
#if MPI_VERSION >= 4
  int out[2] = {3, 4}, in[2] = {0, 0};
  MPI_Request both[2];
  MPI_Precv_init(in, 2, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &both[0]);
  MPI_Psend_init(out, 2, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &both[1]);
  MPI_Startall(2, both);
  MPI_Pready_range(0, 1, both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  CHECK(in[0] == 3 && in[1] == 4, "partitions %d, %d", in[0], in[1]);
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
#endif
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
  send_partitions();
}

static void refuse_buffered(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Bsend(alone, 1, MPI_CHAR, 0, 15, comm);
  CHECK(code == ISTHMUS_ERR_REVOKED, "MPI_Bsend: code %d", code);
  code = MPI_Ibsend(alone, 1, MPI_CHAR, 0, 15, comm, &request);
  CHECK(code == MPI_SUCCESS, "MPI_Ibsend: code %d", code);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(code == ISTHMUS_ERR_REVOKED, "MPI_Wait of MPI_Ibsend: code %d", code);
}

static void revoke(int threads) {
  MPI_Status statuses[MOST];
  pthread_t waiting[THREADS];
  long i;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  go_as_ever();
  begin_all();
  atomic_store(&inside, 0);
  for (i = 0; i < threads; ++i) pthread_create(&waiting[i], NULL, wait_in, (void*)i);
  let_begin(threads);
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
  refuse_buffered();
}

static void* revoke_too(void* of) {
  atomic_fetch_add(&inside, 1);
  while (atomic_load(&inside) < 2) sched_yield();
  *(int*)of = isthmus_comm_revoke(comm);
  return NULL;
}

static void revoke_by_two(void) {
  pthread_t other;
  int first = -1, second = -1, revoked = 0;
  atomic_store(&inside, 0);
  pthread_create(&other, NULL, revoke_too, &second);
  revoke_too(&first);
  pthread_join(other, NULL);
  CHECK(first == MPI_SUCCESS && second == MPI_SUCCESS, "codes %d, %d", first, second);
  isthmus_comm_is_revoked(comm, &revoked);
  CHECK(revoked, "it is not revoked");
}

/* A native library may give a copy the context of the last one, or keep the message until it is
 * received. */
static void leave_messages(int by_two) {
  int i, found;
  for (i = 0; i < COPIES; ++i) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    CHECK(!found, "copy %d has a message of the one before", i);
    MPI_Bsend(alone, 1, MPI_CHAR, 0, 16, comm);
    if (by_two) {
      revoke_by_two();
    } else {
      isthmus_comm_revoke(comm);
    }
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL, "it is not freed");
  }
}

int main(int argc, char** argv) {
  int rank, size, level, never = 0, i;
  MPI_Request left;
  void* attached;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Buffer_attach(buffered, sizeof buffered);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Recv_init(&never, 1, MPI_INT, 0, 1, comm, &left);
  MPI_Comm_free(&comm); /* while a request needs it */
  MPI_Start(&left);
  MPI_Cancel(&left);
  MPI_Wait(&left, MPI_STATUS_IGNORE);
  MPI_Request_free(&left);
  for (i = 0; i < ROUNDS; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
    revoke(level == MPI_THREAD_MULTIPLE ? THREADS : 0);
    MPI_Comm_free(&comm);
  }
  leave_messages(0);
  if (level == MPI_THREAD_MULTIPLE) leave_messages(1);
  MPI_Buffer_detach(&attached, &never);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  go_as_ever();
  revoke(0);
  MPI_Comm_disconnect(&comm);
  comm = MPI_COMM_SELF;
  revoke(0);
  CHECK(MPI_Comm_disconnect(&comm) != MPI_SUCCESS, "MPI_COMM_SELF is disconnected");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks go on\n", size);
  MPI_Finalize();
  return 0;
}
