/* Point to point between two sides, in every mode and form: ranks are those of the remote side.
   ranks: 2 5 */
#include <string.h>

#include "inter.h"

enum { kLong = 200000 };

static void fill(int* data, int count, int seed) {
  for (int i = 0; i < count; ++i) data[i] = seed * 31 + i;
}
static void compare(const int* data, int count, int seed, const char* what) {
  for (int i = 0; i < count; ++i)
    CHECK(data[i] == seed * 31 + i, "%s: element %d is %d", what, i, data[i]);
}
static void check_status(const MPI_Status* status, int source, int tag, int count,
                         const char* what) {
  int got = -1;
  MPI_Get_count(status, MPI_INT, &got);
  CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && got == count,
        "%s: the status says source %d tag %d count %d, expected %d %d %d", what,
        status->MPI_SOURCE, status->MPI_TAG, got, source, tag, count);
}

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* The first side sends to every rank of the second, the second answers. */
static void modes(const Meeting* m, const char* what) {
  static int data[kLong];
  const Send sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend};
  const Isend isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend};
  const Init inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init};
  MPI_Status status;
  for (int mode = 0; mode < 9; ++mode) {
    for (int count = 3; count <= kLong; count *= 200) {
      const int kept = count > 1000 && mode % 3 == 2 ? 1000 : count; /* the buffer is small */
      for (int turn = 0; turn < 2; ++turn) {
        for (int peer = 0; peer < m->remote_size; ++peer) {
          const int sending = m->side == turn;
          if (sending) {
            fill(data, kept, world_rank + peer);
            MPI_Request request = MPI_REQUEST_NULL;
            if (mode < 3) {
              sends[mode](data, kept, MPI_INT, peer, mode, m->inter);
            } else if (mode < 6) {
              isends[mode - 3](data, kept, MPI_INT, peer, mode, m->inter, &request);
              MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
              inits[mode - 6](data, kept, MPI_INT, peer, mode, m->inter, &request);
              MPI_Start(&request);
              MPI_Wait(&request, MPI_STATUS_IGNORE);
              MPI_Request_free(&request);
            }
          } else {
            memset(data, 0, sizeof(int) * (size_t)kept);
            MPI_Request request = MPI_REQUEST_NULL;
            if (mode < 3) {
              MPI_Recv(data, kLong, MPI_INT, peer, mode, m->inter, &status);
            } else if (mode < 6) {
              MPI_Irecv(data, kLong, MPI_INT, peer, mode, m->inter, &request);
              MPI_Wait(&request, &status);
            } else {
              MPI_Recv_init(data, kLong, MPI_INT, peer, mode, m->inter, &request);
              MPI_Start(&request);
              MPI_Wait(&request, &status);
              MPI_Request_free(&request);
            }
            check_status(&status, peer, mode, kept, what);
            compare(data, kept, m->theirs[peer] + m->rank, what);
          }
        }
      }
    }
  }
}

/* Everybody sends one message to every remote rank; each receives from anywhere. */
static void wildcards(const Meeting* m, const char* what) {
  int* got = calloc((size_t)m->remote_size, sizeof(int));
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)m->remote_size);
  int* out = malloc(sizeof(int) * 2 * (size_t)m->remote_size);
  for (int form = 0; form < 5; ++form) {
    memset(got, 0, sizeof(int) * (size_t)m->remote_size);
    for (int i = 0; i < m->remote_size; ++i) {
      out[2 * i] = world_rank;
      out[2 * i + 1] = i;
      MPI_Isend(out + 2 * i, 2, MPI_INT, i, 50 + form, m->inter, &requests[i]);
    }
    for (int i = 0; i < m->remote_size; ++i) {
      int in[2] = {-1, -1};
      MPI_Status status, probed;
      MPI_Message message;
      if (form == 0) {
        MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, 50 + form, m->inter, &status);
      } else if (form == 1) {
        MPI_Request request;
        MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 50 + form, m->inter, &request);
        MPI_Wait(&request, &status);
      } else if (form == 2) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->inter, &probed);
        MPI_Recv(in, 2, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, m->inter, &status);
        check_status(&probed, status.MPI_SOURCE, 50 + form, 2, what);
      } else if (form == 3) {
        MPI_Mprobe(MPI_ANY_SOURCE, 50 + form, m->inter, &message, &probed);
        MPI_Mrecv(in, 2, MPI_INT, &message, &status);
        check_status(&probed, status.MPI_SOURCE, 50 + form, 2, what);
      } else {
        int flag = 0;
        while (!flag) MPI_Improbe(i, MPI_ANY_TAG, m->inter, &flag, &message, &probed);
        MPI_Request request;
        MPI_Imrecv(in, 2, MPI_INT, &message, &request);
        MPI_Wait(&request, &status);
      }
      CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < m->remote_size, "%s: source %d", what,
            status.MPI_SOURCE);
      check_status(&status, status.MPI_SOURCE, 50 + form, 2, what);
      CHECK(in[0] == m->theirs[status.MPI_SOURCE] && in[1] == m->rank,
            "%s: form %d: remote rank %d is world rank %d, not %d", what, form, status.MPI_SOURCE,
            m->theirs[status.MPI_SOURCE], in[0]);
      CHECK(!got[status.MPI_SOURCE]++, "%s: twice from %d", what, status.MPI_SOURCE);
    }
    MPI_Waitall(m->remote_size, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(m->inter); /* probes of any tag must see no message of the next form */
  }
  free(got);
  free(requests);
  free(out);
}

static void cancel(const Meeting* m, const char* what) {
  int data = 7, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&data, 1, MPI_INT, m->remote_size - 1, 77, m->inter, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled, "%s: a receive that nobody sends to was not cancelled", what);
  MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 77, m->inter, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled, "%s: a receive from anywhere was not cancelled", what);
}

static void nobody(const Meeting* m, const char* what) {
  int data = 7;
  MPI_Status status;
  MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, m->inter);
  MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, m->inter, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && data == 7, "%s: something came from nobody", what);
  MPI_Comm_set_errhandler(m->inter, MPI_ERRORS_RETURN);
  int class = 0;
  const int code = MPI_Send(&data, 1, MPI_INT, m->remote_size, 1, m->inter);
  CHECK(code != MPI_SUCCESS, "%s: a rank beyond the remote side was taken", what);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_RANK, "%s: the error class is %d, not MPI_ERR_RANK", what, class);
  MPI_Comm_set_errhandler(m->inter, MPI_ERRORS_ARE_FATAL);
}

static void exchange(const Meeting* m, const char* what) {
  if (m->rank >= m->remote_size || m->rank >= m->size) return;
  int data[2] = {world_rank, 5};
  MPI_Status status;
  MPI_Sendrecv_replace(data, 2, MPI_INT, m->rank, 91, m->rank, 91, m->inter, &status);
  check_status(&status, m->rank, 91, 2, what);
  CHECK(data[0] == m->theirs[m->rank], "%s: %d came", what, data[0]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  static char buffer[1 << 20];
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int w = 0; w < kWays; ++w) {
    Meeting m = meet(&ways[w], 3);
    if (m.side >= 0) {
      modes(&m, ways[w].name);
      wildcards(&m, ways[w].name);
      cancel(&m, ways[w].name);
      nobody(&m, ways[w].name);
      exchange(&m, ways[w].name);
    }
    part(&m);
  }
  char* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  return finish("messages between two sides");
}
