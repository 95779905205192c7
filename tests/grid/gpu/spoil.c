/* A device's driver fails while messages are under way: their receives end with an error that says
 * so, never with other bytes. Rank 0 sends to the last rank, in another cluster. "big":
 * partitioned messages alone, to a rank that claims to hold numbers in the other order. */
#include <byteswap.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "checks.h"

void gpu_fail_after(int to_host, size_t bytes); /* device_memory.h */

enum { SHORT = 1000, FLOWS = 300007, LONG = 3000017, TAG = 7, GOOD = 5000000 };
static int partner, count, big;
static size_t fails_after;

static void is_wrong(const char* what) {
  printf("rank %d: %s, %d elements, fails after %zu bytes: %s\n", rank, doing, count, fails_after,
         what);
  wrong = 1;
}
static int has(int code, int class, const char* words) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, is = MPI_SUCCESS;
  MPI_Error_class(code, &is);
  MPI_Error_string(code, text, &length);
  if (is == class && strstr(text, words)) return 1;
  is_wrong(text);
  return 0;
}

static MPI_Request made[2];

static int standard(int* data) {
  return MPI_Send(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD);
}
static int synchronous(int* data) {
  return MPI_Ssend(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD);
}
static int buffered(int* data) {
  static char* room;
  const int bytes = LONG * sizeof(int) + MPI_BSEND_OVERHEAD;
  if (!room) MPI_Buffer_attach(room = malloc(bytes), bytes);
  return MPI_Bsend(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD);
}
static int immediate(int* data) {
  MPI_Request request;
  const int code = MPI_Isend(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD, &request);
  return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int persistent(int* data) {
  MPI_Send_init(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD, made);
  int code = MPI_Start(made);
  if (!code) code = MPI_Wait(made, MPI_STATUS_IGNORE);
  MPI_Request_free(made);
  return code;
}

static int posted(int* into, MPI_Status* status) {
  MPI_Request request;
  MPI_Irecv(into, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  return MPI_Wait(&request, status);
}
static int from_any(int* into, MPI_Status* status) {
  MPI_Request request;
  MPI_Irecv(into, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  return MPI_Wait(&request, status);
}
static int unexpected(int* into, MPI_Status* status) {
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  MPI_Probe(0, TAG, MPI_COMM_WORLD, status);
  return MPI_Recv(into, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, status);
}
static int matched(int* into, MPI_Status* status) {
  MPI_Message message;
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, status);
  return MPI_Mrecv(into, count, MPI_INT, &message, status);
}
static int started(int* into, MPI_Status* status) {
  MPI_Request request;
  MPI_Recv_init(into, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  const int code = MPI_Wait(&request, status);
  MPI_Request_free(&request);
  return code;
}

/* The message that may be spoilt, and a good one behind it. A call that fails at once sends none.
 */
static void send_two(int (*send)(int*), int* data, int* good) {
  MPI_Recv(NULL, 0, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  gpu_fail_after(1, fails_after);
  const int code = send(data);
  gpu_fail_after(1, SIZE_MAX);
  if (!code) is_wrong("no error of the send");
  if (code) has(code, MPI_ERR_BUFFER, "an illegal memory access");
  MPI_Send(good, count, MPI_INT, partner, TAG, MPI_COMM_WORLD);
}
static void receive_two(int (*receive)(int*, MPI_Status*), int* into) {
  MPI_Status status;
  const int code = receive(into, &status);
  if (code) {
    has(code, MPI_ERR_OTHER, "rank 0");
    has(code, MPI_ERR_OTHER, "an illegal memory access");
    if (status.MPI_SOURCE != 0 || status.MPI_TAG != TAG) is_wrong("another status");
    if (MPI_Recv(into, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) {
      is_wrong("an error of the next message");
    }
  } else if (count > FLOWS - 1 && fails_after > 0) {
    is_wrong("no error of the receive");
  }
  int* const host = malloc(count * sizeof(int));
  gpu_read(host, into, count * sizeof(int));
  for (int i = 0; i < count; ++i) {
    if (host[i] != GOOD + i) {
      is_wrong("other bytes in the next message");
      break;
    }
  }
  free(host);
}

static void messages(void) {
  static const struct {
    const char* name;
    int (*send)(int*);
    int (*receive)(int*, MPI_Status*);
  } ways[] = {{"a receive", standard, posted},
              {"from any rank", immediate, from_any},
              {"unexpected", immediate, unexpected},
              {"unexpected and synchronous", synchronous, unexpected},
              {"a matched receive", standard, matched},
              {"a persistent receive", persistent, started}};
  static const int counts[] = {SHORT, FLOWS, LONG};
  int* const data = on_device(LONG, 1);
  int* const good = on_device(LONG, GOOD);
  for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way) {
    for (int i = 0; i < 3; ++i) {
      count = counts[i];
      const size_t bytes = count * sizeof(int);
      const size_t points[] = {0, bytes / 2, bytes - 1};
      for (int point = 0; point < 3; ++point) {
        doing = ways[way].name;
        fails_after = points[point];
        if (rank == 0) send_two(ways[way].send, data, good);
        if (rank == partner && rank != 0) receive_two(ways[way].receive, data);
      }
    }
  }
  doing = "a buffered send";
  count = LONG;
  fails_after = 0;
  if (rank == 0) send_two(buffered, data, good);
  if (rank == partner && rank != 0) receive_two(posted, data);
}

/* The receiver's own device fails: the error is its own. */
static void receives(void) {
  static const int counts[] = {SHORT, FLOWS, LONG};
  int* const data = on_device(LONG, 1);
  for (int i = 0; i < 3; ++i) {
    doing = "a receive to a device that fails";
    count = counts[i];
    for (size_t after = 0; after < 2; ++after) {
      fails_after = after * (count * sizeof(int) - 1);
      if (rank == 0) {
        if (MPI_Ssend(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD)) is_wrong("the sender's");
      } else if (rank == partner) {
        gpu_fail_after(0, fails_after);
        const int code = MPI_Recv(data, count, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        gpu_fail_after(0, SIZE_MAX);
        if (!code) is_wrong("no error");
        if (code) has(code, MPI_ERR_BUFFER, "");
      }
    }
  }
}

static void parts(void) {
#if MPI_VERSION >= 4
  enum { PARTS = 3 };
  MPI_Request request;
  int failed = 0, spoilt = 0;
  int* const data = on_device(PARTS * FLOWS, rank == 0 ? 1 : GOOD);
  doing = "partitions";
  count = FLOWS;
  fails_after = FLOWS * sizeof(int) * 3 / 2;
  if (rank == 0) {
    MPI_Psend_init(data, PARTS, FLOWS, MPI_INT, partner, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int round = 0; round < 2; ++round) {
      MPI_Start(&request);
      gpu_fail_after(1, round == 0 ? fails_after : SIZE_MAX);
      for (int i = 0; i < PARTS; ++i) {
        /* A partition whose copy fails at once may be marked again. */
        if (MPI_Pready(i, request)) {
          failed = 1;
          gpu_fail_after(1, SIZE_MAX);
          if (MPI_Pready(i, request)) is_wrong("a partition cannot be marked again");
        }
      }
      spoilt = MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
      gpu_fail_after(1, SIZE_MAX);
      if ((failed || spoilt) != (round == 0)) is_wrong("errors of the other round");
      failed = 0;
      MPI_Send(&spoilt, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
  } else if (rank == partner) {
    MPI_Precv_init(data, 1, PARTS * FLOWS, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int round = 0; round < 2; ++round) {
      int flag = 0, code = MPI_SUCCESS;
      MPI_Start(&request);
      while (!flag && !code) code = MPI_Parrived(request, 0, &flag);
      const int end = MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Recv(&spoilt, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!code != !spoilt || !end != !spoilt) is_wrong("the sender's wait ends otherwise");
      if (code) has(code, MPI_ERR_OTHER, "with tag 7 has not come, since rank 0");
      if (end) has(end, MPI_ERR_OTHER, "with tag 7 has not come, since rank 0");
      for (int i = 0; !end && i < PARTS * FLOWS; i += FLOWS / 3) {
        expect(data, i, big ? (int)bswap_32(1 + i) : 1 + i);
      }
    }
    MPI_Request_free(&request);
  }
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  partner = size - 1;
  big = argc > 1;
  if (!big) {
    messages();
    receives();
  }
  parts();
  return ended(NULL);
}
