/* A cluster fails while the others wait for it, in the call that the argument names. All that live
 * get an error that names the cluster, or success where they need nobody of it. Then they talk to
 * each other, and end. Several calls, with commas between them: each
 * rank that lives makes one of these. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMany = 1 << 20, kTag = 7 };
static const char* const kVictim = "west";

static int rank, size, victim /* its first rank */, other /* a living rank of another cluster */;
static int *out, *in;
static int counts[64], places[64];
static int needs_nobody; /* the call may succeed at this rank */

static int is_in(int r, const char* clusters, const char* name) {
  return strcmp(clusters + 16 * r, name) == 0;
}

static int one_wait(MPI_Request* request) {
  MPI_Status status;
  return MPI_Wait(request, &status);
}

/* The victim may have room for it. */
static int send_large(void) {
  needs_nobody = 1;
  return MPI_Send(out, kMany, MPI_INT, victim, kTag, MPI_COMM_WORLD);
}
static int ssend(void) { return MPI_Ssend(out, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD); }
static int isend_large(void) {
  MPI_Request request;
  needs_nobody = 1;
  const int code = MPI_Isend(out, kMany, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : one_wait(&request);
}
static int issend(void) {
  MPI_Request request;
  const int code = MPI_Issend(out, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : one_wait(&request);
}
static int bsend(void) {
  static char buffer[4096 + MPI_BSEND_OVERHEAD];
  int bytes;
  void* back;
  needs_nobody = 1;
  MPI_Buffer_attach(buffer, sizeof buffer);
  const int code = MPI_Bsend(out, 8, MPI_INT, victim, kTag, MPI_COMM_WORLD);
  MPI_Buffer_detach(&back, &bytes);
  return code;
}
static int send_again_and_again(void) {
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) code = MPI_Send(out, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD);
  return code;
}

static int recv(void) {
  return MPI_Recv(in, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int recv_any_tag(void) {
  return MPI_Recv(in, 1, MPI_INT, victim, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int recv_any(void) {
  return MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int irecv(void) {
  MPI_Request request;
  const int code = MPI_Irecv(in, kMany, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : one_wait(&request);
}
static int irecv_any(void) {
  MPI_Request request;
  MPI_Irecv(in, kMany, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &request);
  return one_wait(&request);
}
static int recv_test(void) {
  MPI_Request request;
  int done = 0, code = MPI_Irecv(in, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  while (code == MPI_SUCCESS && !done) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return code;
}
static int waitall(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int zero = 0;
  MPI_Irecv(in, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + 1, 1, MPI_INT, rank, kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&zero, 1, MPI_INT, rank, kTag, MPI_COMM_WORLD);
  const int code = MPI_Waitall(2, requests, statuses);
  if (code != MPI_ERR_IN_STATUS || statuses[1].MPI_ERROR != MPI_SUCCESS) {
    fprintf(stderr, "rank %d: MPI_Waitall returned %d\n", rank, code);
    return MPI_SUCCESS;
  }
  return statuses[0].MPI_ERROR;
}
static int sendrecv(void) {
  return MPI_Sendrecv(out, kMany, MPI_INT, other, kTag + 4, in, kMany, MPI_INT, victim, kTag,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int sendrecv_replace(void) {
  return MPI_Sendrecv_replace(in, kMany, MPI_INT, other, kTag + 4, victim, kTag, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE);
}
static int probe(void) { return MPI_Probe(victim, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static int probe_any(void) {
  return MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int iprobe(void) {
  int found = 0, code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && !found) {
    code = MPI_Iprobe(victim, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  return code;
}
static int mprobe(void) {
  MPI_Message message;
  return MPI_Mprobe(victim, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}
static int persistent_recv(void) {
  MPI_Request request;
  MPI_Recv_init(in, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  const int code = one_wait(&request);
  MPI_Request_free(&request);
  return code;
}
static int persistent_send(void) {
  MPI_Request request;
  MPI_Ssend_init(out, 1, MPI_INT, victim, kTag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  const int code = one_wait(&request);
  MPI_Request_free(&request);
  return code;
}
#if MPI_VERSION >= 4
static int partitioned_recv(void) {
  MPI_Request request;
  MPI_Precv_init(in, 2, 8, MPI_INT, victim, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  const int code = one_wait(&request);
  MPI_Request_free(&request);
  return code;
}
#endif

/* The victim's last message has arrived whole: it is still received. */
static int arrived(void) {
  MPI_Status status;
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) {
    code = MPI_Recv(in, 1, MPI_INT, victim, kTag + 1, MPI_COMM_WORLD, &status);
    if (code == MPI_SUCCESS && in[0] != 4711) fprintf(stderr, "rank %d: wrong data\n", rank);
    in[1] += code == MPI_SUCCESS;
  }
  if (in[1] != 1) fprintf(stderr, "rank %d: %d messages came\n", rank, in[1]);
  return in[1] == 1 ? code : MPI_SUCCESS;
}

static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static int bcast(void) { return MPI_Bcast(in, kMany, MPI_INT, victim, MPI_COMM_WORLD); }
static int allreduce(void) {
  return MPI_Allreduce(out, in, kMany, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static int reduce(void) {
  const int code = MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  needs_nobody = rank != 0;
  return code;
}
static int gather(void) {
  needs_nobody = rank != 0;
  return MPI_Gather(out, 8, MPI_INT, in, 8, MPI_INT, 0, MPI_COMM_WORLD);
}
static int scatter(void) {
  return MPI_Scatter(out, 8, MPI_INT, in, 8, MPI_INT, victim, MPI_COMM_WORLD);
}
static int allgather(void) {
  return MPI_Allgather(out, 1000, MPI_INT, in, 1000, MPI_INT, MPI_COMM_WORLD);
}
static int allgatherv(void) {
  return MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
}
static int alltoall(void) {
  return MPI_Alltoall(out, 1000, MPI_INT, in, 1000, MPI_INT, MPI_COMM_WORLD);
}
static int reduce_scatter(void) {
  return MPI_Reduce_scatter_block(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static int scan(void) {
  needs_nobody = rank < victim;
  return MPI_Scan(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static int ibarrier(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  return one_wait(&request);
}
static int iallreduce(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Iallreduce(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(out, in + 100, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  if (MPI_Waitall(2, requests, statuses) != MPI_ERR_IN_STATUS) return MPI_SUCCESS;
  return statuses[1].MPI_ERROR;
}
static int neighbors(void) {
  needs_nobody = rank + 1 < victim || rank > victim + 2;
  static int result;
  static MPI_Comm ring = MPI_COMM_NULL;
  if (ring != MPI_COMM_NULL) {
    result = MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    return result;
  }
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return MPI_SUCCESS;
}
static int duplicate(void) {
  MPI_Comm made;
  return MPI_Comm_dup(MPI_COMM_WORLD, &made);
}
static int idup(void) {
  static MPI_Comm made;
  MPI_Request request;
  const int code = MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  return code != MPI_SUCCESS ? code : one_wait(&request);
}
static int split(void) {
  MPI_Comm made;
  return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made);
}
static int create_group(void) {
  MPI_Comm made;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &made);
  MPI_Group_free(&all);
  return code;
}

static const struct {
  const char* name;
  int (*call)(void);
} calls[] = {
    /* By one rank alone. */
    {"send_large", send_large},
    {"ssend", ssend},
    {"isend_large", isend_large},
    {"issend", issend},
    {"bsend", bsend},
    {"send_again_and_again", send_again_and_again},
    {"recv", recv},
    {"recv_any_tag", recv_any_tag},
    {"recv_any", recv_any},
    {"irecv", irecv},
    {"irecv_any", irecv_any},
    {"recv_test", recv_test},
    {"waitall", waitall},
    {"sendrecv", sendrecv},
    {"sendrecv_replace", sendrecv_replace},
    {"probe", probe},
    {"probe_any", probe_any},
    {"iprobe", iprobe},
    {"mprobe", mprobe},
    {"persistent_recv", persistent_recv},
    {"persistent_send", persistent_send},
#if MPI_VERSION >= 4
    {"partitioned_recv", partitioned_recv},
#endif
    /* By all. */
    {"arrived", arrived},
    {"barrier", barrier},
    {"bcast", bcast},
    {"allreduce", allreduce},
    {"reduce", reduce},
    {"gather", gather},
    {"scatter", scatter},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"alltoall", alltoall},
    {"reduce_scatter", reduce_scatter},
    {"scan", scan},
    {"ibarrier", ibarrier},
    {"iallreduce", iallreduce},
    {"neighbors", neighbors},
    {"dup", duplicate},
    {"idup", idup},
    {"split", split},
    {"create_group", create_group},
};

/* All ranks that live hear from each other. */
static void talk(const char* clusters) {
  MPI_Request requests[128];
  int number = 0, heard[64];
  for (int r = 0; r < size; ++r) {
    if (r == rank || is_in(r, clusters, kVictim)) continue;
    MPI_Irecv(&heard[r], 1, MPI_INT, r, kTag + 2, MPI_COMM_WORLD, &requests[number++]);
    MPI_Isend(&rank, 1, MPI_INT, r, kTag + 2, MPI_COMM_WORLD, &requests[number++]);
  }
  if (MPI_Waitall(number, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
    fprintf(stderr, "rank %d: those that live do not hear each other\n", rank);
    exit(1);
  }
}

/* The call of this rank. */
static const char* chosen(char* words, const char* clusters) {
  char* names[64];
  int number = 0, before = 0; /* ranks that live */
  for (int r = 0; r < rank; ++r) before += !is_in(r, clusters, kVictim);
  for (char* word = strtok(words, ","); word != NULL; word = strtok(NULL, ",")) {
    names[number++] = word;
  }
  return names[before % number];
}

int main(int argc, char** argv) {
  int (*call)(void) = NULL;
  char mine[16] = "", clusters[64 * 16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int fatal = argc > 2;
  if (!fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  strncpy(mine, getenv("ISTHMUS_CLUSTER"), sizeof mine - 1);
  MPI_Allgather(mine, 16, MPI_CHAR, clusters, 16, MPI_CHAR, MPI_COMM_WORLD);
  victim = other = -1;
  for (int r = 0; r < size; ++r) {
    counts[r] = 100 + r;
    places[r] = r == 0 ? 0 : places[r - 1] + counts[r - 1];
    if (is_in(r, clusters, kVictim)) {
      victim = victim < 0 ? r : victim;
    } else if (!is_in(r, clusters, mine)) {
      other = r;
    }
  }
  const char* const name = chosen(argv[1], clusters);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(calls[i].name, name) == 0) call = calls[i].call;
  }
  if (call == NULL) return 2;
  out = calloc(kMany, sizeof *out);
  in = calloc(kMany, sizeof *in);
  if (call == neighbors) call();
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_in(rank, clusters, kVictim)) {
    if (call == arrived && rank == victim) {
      const int last = 4711;
      int heard;
      for (int r = 0; r < size; ++r) {
        if (is_in(r, clusters, kVictim)) continue;
        MPI_Send(&last, 1, MPI_INT, r, kTag + 1, MPI_COMM_WORLD);
        MPI_Recv(&heard, 1, MPI_INT, r, kTag + 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    if (rank == victim) raise(SIGKILL);
    for (;;) pause();
  }
  if (call == arrived) {
    MPI_Probe(victim, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, victim, kTag + 3, MPI_COMM_WORLD);
  }
  const int code = call();
  if (code == MPI_SUCCESS) {
    if (!needs_nobody) {
      fprintf(stderr, "rank %d: %s has succeeded\n", rank, name);
      return 1;
    }
  } else {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (strstr(text, kVictim) == NULL) {
      fprintf(stderr, "rank %d: %s: %s\n", rank, name, text);
      return 1;
    }
  }
  talk(clusters);
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
