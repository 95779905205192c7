/* The point-to-point figures of `isthmus bench p2p`, for any MPI. Rank i of the first half plays
 * with rank i + size/2. Of an odd number the last rank stands by, asleep outside MPI, so that the
 * others can be those of one cluster of a grid. usage: p2p TASK...
 *
 *   pingpong:BYTES:ROUNDS               round trips of the first pair
 *   stream:BYTES:ROUNDS:SECONDS         messages one way, all pairs at once
 *   bidirectional:BYTES:ROUNDS:SECONDS  the same both ways
 *   rate:BYTES:ROUNDS:SECONDS           as stream, with many more messages under way
 *   there:BYTES:ROUNDS, back:BYTES:ROUNDS   one way of such round trips alone
 *   paused:BYTES:ROUNDS:SECONDS         as pingpong, after so long a silence before each round trip
 *   loaded:BYTES:TOTAL                  round trips of the first pair while TOTAL bytes go the
 *                                       same way as the pings
 *
 * Rank 0 prints a line of JSON for each task as soon as it is done: its text and the seconds of
 * each round trip, or of each round with the messages that it had (of each pair, and way). A
 * round lasts from the first message to the word that all have arrived.
 *
 * One-way times are by the two hosts' clocks, of which hosts with one kernel have one. Others are
 * compared by the quickest of the round trips, as if its two ways took the same. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  WARM_UP = 2,
  MOST_UNDER_WAY = 64,
  FIRST_BYTES = 4 << 20,
  BULK = 1 << 20,
  BULK_UNDER_WAY = 16
};
enum { DATA = 1, WORD = 2, PING = 3 };

static int rank, pairs, peer, leader;
static MPI_Comm players;

static void fail(const char* text, const char* why) {
  if (rank == 0) fprintf(stderr, "p2p: \"%s\": %s\n", text, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static char* allocate(size_t bytes) {
  char* memory = malloc(bytes);
  if (!memory) fail("memory", "not enough");
  memset(memory, rank, bytes);
  return memory;
}

static void print(const char* text, const double* seconds, const long long* messages, int n) {
  if (rank != 0) return;
  printf("{\"task\":\"%s\",\"pairs\":%d,\"seconds\":[", text, pairs);
  for (int i = 0; i < n; ++i) printf("%s%.9g", i ? "," : "", seconds[i]);
  printf("]");
  if (messages) {
    printf(",\"messages\":[");
    for (int i = 0; i < n; ++i) printf("%s%lld", i ? "," : "", messages[i]);
    printf("]");
  }
  printf("}\n");
  fflush(stdout);
}

/* Outside MPI and asleep, as a rank that computes on a processor of its own. */
static void silent(double seconds) {
  const time_t whole = (time_t)seconds;
  struct timespec rest = {whole, (long)(1e9 * (seconds - (double)whole))};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

static void pingpong(const char* text, int bytes, int rounds, double pause) {
  if (rank % pairs != 0) return;
  char* buffer = allocate((size_t)bytes);
  double* seconds = (double*)allocate(sizeof(double) * (size_t)rounds);
  for (int i = -WARM_UP; i < rounds; ++i) {
    if (i >= 0) silent(pause);
    const double start = MPI_Wtime();
    if (leader) MPI_Send(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!leader) MPI_Send(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
    if (i >= 0) seconds[i] = MPI_Wtime() - start;
  }
  print(text, seconds, NULL, rounds);
  free(seconds);
  free(buffer);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whether the two hosts have one kernel, whose boot has a name of its own. */
static int same_clock(void) {
  char mine[64] = {0}, its[64] = {0};
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file) {
    if (!fgets(mine, sizeof mine, file)) mine[0] = 0;
    fclose(file);
  }
  MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, peer, WORD, its, sizeof its, MPI_BYTE, peer, WORD,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return mine[0] && memcmp(mine, its, sizeof mine) == 0;
}

/* Each side notes when it sent and received; the leader gets all times at the end. */
static void one_way(const char* text, int bytes, int rounds, int back) {
  if (rank % pairs != 0) return;
  enum { SENT, RECEIVED, TIMES };
  char* buffer = allocate((size_t)bytes);
  const size_t room = sizeof(double) * TIMES * (size_t)rounds;
  double *mine = (double*)allocate(room), *its = (double*)allocate(room), ahead = 0, least = 0;
  const int one = same_clock();
  for (int i = -WARM_UP; i < rounds; ++i) {
    const double start = now();
    if (leader) MPI_Send(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double arrived = now();
    if (!leader) MPI_Send(buffer, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD);
    if (i < 0) continue;
    mine[TIMES * i + SENT] = leader ? start : arrived;
    mine[TIMES * i + RECEIVED] = arrived;
  }
  if (!leader) MPI_Send(mine, TIMES * rounds, MPI_DOUBLE, peer, WORD, MPI_COMM_WORLD);
  if (leader) {
    MPI_Recv(its, TIMES * rounds, MPI_DOUBLE, peer, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < TIMES * rounds && !one; i += TIMES) {
      const double trip = mine[i + RECEIVED] - mine[i + SENT] - (its[i + SENT] - its[i + RECEIVED]);
      if (i > 0 && trip >= least) continue;
      least = trip;
      ahead = (its[i + RECEIVED] - mine[i + SENT] + its[i + SENT] - mine[i + RECEIVED]) / 2;
    }
    for (int i = 0; i < rounds; ++i) {
      const double *here = mine + TIMES * i, *there = its + TIMES * i;
      mine[i] = back ? here[RECEIVED] - there[SENT] + ahead : there[RECEIVED] - here[SENT] - ahead;
    }
    print(text, mine, NULL, rounds);
  }
  free(its);
  free(mine);
  free(buffer);
}

/* One round of `count` messages, `under_way` of them posted at a time. */
static double flow(int bytes, long long count, int under_way, int both, char* out, char* in) {
  MPI_Request sends[MOST_UNDER_WAY], receives[MOST_UNDER_WAY];
  const int sending = leader || both, receiving = !leader || both;
  for (int i = 0; i < under_way; ++i) sends[i] = receives[i] = MPI_REQUEST_NULL;
  MPI_Barrier(players);
  const double start = MPI_Wtime();
  for (long long i = 0; i < count; ++i) {
    const int k = (int)(i % under_way);
    char* room = in + (size_t)k * (size_t)bytes;
    if (receiving) {
      MPI_Wait(&receives[k], MPI_STATUS_IGNORE);
      MPI_Irecv(room, bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &receives[k]);
    }
    if (sending) {
      MPI_Wait(&sends[k], MPI_STATUS_IGNORE);
      MPI_Isend(out, bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &sends[k]);
    }
  }
  MPI_Waitall(under_way, receives, MPI_STATUSES_IGNORE);
  MPI_Waitall(under_way, sends, MPI_STATUSES_IGNORE);
  char word = 0;
  if (leader) MPI_Recv(&word, 1, MPI_BYTE, peer, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!leader) MPI_Send(&word, 1, MPI_BYTE, peer, WORD, MPI_COMM_WORLD);
  double mine = leader ? MPI_Wtime() - start : 0, longest = 0;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, players);
  return longest;
}

/* Rounds get longer until one takes a good part of the time wanted; then as many as are wanted. */
static void flows(const char* text, int bytes, int rounds, double wanted, int under_way, int both) {
  char* out = allocate((size_t)bytes);
  char* in = allocate((size_t)bytes * (size_t)under_way);
  double* seconds = (double*)allocate(sizeof(double) * (size_t)rounds);
  long long* messages = (long long*)allocate(sizeof(long long) * (size_t)rounds);
  long long count = FIRST_BYTES / 4 / bytes;
  if (count < 4) count = 4;
  double took;
  while ((took = flow(bytes, count, under_way, both, out, in)) < wanted / 4) count *= 4;
  const double more = wanted / took < 4 ? wanted / took : 4;
  count = (long long)(more * (double)count);
  if (count < 4) count = 4;
  for (int i = 0; i < rounds; ++i) {
    seconds[i] = flow(bytes, count, under_way, both, out, in);
    messages[i] = count;
  }
  print(text, seconds, messages, rounds);
  free(messages);
  free(seconds);
  free(in);
  free(out);
}

/* The leader keeps the stream full and one ping under way. Requests: the stream's, then the
 * ping that is received, then the one that is sent. The first byte of a ping says whether
 * another follows; the last is not counted. */
static void loaded(const char* text, int bytes, long long total) {
  if (rank % pairs != 0) return;
  enum { RECEIVED = BULK_UNDER_WAY, SENT, ALL };
  MPI_Request requests[ALL];
  const long long blocks = (total + BULK - 1) / BULK;
  long long posted = 0, done = 0, pings = 0, room = 1024;
  char* bulk = allocate((size_t)BULK * BULK_UNDER_WAY);
  char *ping = allocate((size_t)bytes), *pong = allocate((size_t)bytes);
  double *seconds = (double*)allocate(sizeof(double) * (size_t)room), start = MPI_Wtime();
  int over = 0, more = 1;
  for (int i = 0; i < ALL; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int first = 1; done < blocks || !over; first = 0) {
    int at = MPI_UNDEFINED;
    if (!first) MPI_Waitany(ALL, requests, &at, MPI_STATUS_IGNORE);
    if (at == RECEIVED && leader) {
      if (!more) {
        over = 1;
      } else {
        if (pings == room) seconds = realloc(seconds, sizeof(double) * (size_t)(room *= 2));
        if (!seconds) fail("memory", "not enough");
        seconds[pings++] = MPI_Wtime() - start;
      }
    } else if (at == RECEIVED) {
      over = pong[0] == 0;
    } else if (at != SENT && at != MPI_UNDEFINED) {
      ++done;
    }
    /* Bulk: block i stands in slot i % BULK_UNDER_WAY, free again when it is done. */
    for (int k = 0; k < BULK_UNDER_WAY && posted < blocks; ++k) {
      if (requests[k] != MPI_REQUEST_NULL) continue;
      char* block = bulk + (size_t)k * BULK;
      if (leader) MPI_Isend(block, BULK, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &requests[k]);
      if (!leader) MPI_Irecv(block, BULK, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &requests[k]);
      ++posted;
    }
    if ((first || at == RECEIVED) && !over) {
      if (leader) {
        MPI_Wait(&requests[SENT], MPI_STATUS_IGNORE);
        ping[0] = (char)(more = done < blocks);
        start = MPI_Wtime();
      }
      MPI_Irecv(pong, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD, &requests[RECEIVED]);
      if (leader) MPI_Isend(ping, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD, &requests[SENT]);
    }
    if (!leader && at == RECEIVED) {
      MPI_Wait(&requests[SENT], MPI_STATUS_IGNORE);
      MPI_Isend(ping, bytes, MPI_BYTE, peer, PING, MPI_COMM_WORLD, &requests[SENT]);
    }
  }
  MPI_Wait(&requests[SENT], MPI_STATUS_IGNORE);
  print(text, seconds, NULL, (int)pings);
  free(seconds);
  free(pong);
  free(ping);
  free(bulk);
}

static void run(const char* text) {
  char name[32], rest;
  long long bytes = 0, rounds = 0;
  double seconds = 0;
  const int n = sscanf(text, "%31[a-z]:%lld:%lld:%lf%c", name, &bytes, &rounds, &seconds, &rest);
  const int timed = n == 4 && rounds <= 1000000 && seconds >= 0;
  if (n < 3 || bytes < 1 || bytes > 1 << 30 || rounds < 1) fail(text, "is not a task");
  MPI_Barrier(players);
  if (n == 3 && rounds <= 1000000 && strcmp(name, "pingpong") == 0) {
    pingpong(text, (int)bytes, (int)rounds, 0);
  } else if (n == 3 && rounds <= 1000000 && strcmp(name, "there") == 0) {
    one_way(text, (int)bytes, (int)rounds, 0);
  } else if (n == 3 && rounds <= 1000000 && strcmp(name, "back") == 0) {
    one_way(text, (int)bytes, (int)rounds, 1);
  } else if (timed && strcmp(name, "paused") == 0) {
    pingpong(text, (int)bytes, (int)rounds, seconds);
  } else if (n == 3 && strcmp(name, "loaded") == 0) {
    loaded(text, (int)bytes, rounds);
  } else if (timed && strcmp(name, "stream") == 0) {
    flows(text, (int)bytes, (int)rounds, seconds, 16, 0);
  } else if (timed && strcmp(name, "bidirectional") == 0) {
    flows(text, (int)bytes, (int)rounds, seconds, 16, 1);
  } else if (timed && strcmp(name, "rate") == 0) {
    flows(text, (int)bytes, (int)rounds, seconds, MOST_UNDER_WAY, 0);
  } else {
    fail(text, "is not a task");
  }
}

/* Until rank 0 says that the others are done. */
static void stand_by(void) {
  int done = 0;
  while (!done) {
    silent(0.05);
    MPI_Iprobe(0, WORD, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
  }
  MPI_Recv(NULL, 0, MPI_BYTE, 0, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) fail("size", "at least two ranks are needed");
  pairs = size / 2;
  leader = rank < pairs;
  peer = leader ? rank + pairs : rank - pairs;
  const int plays = rank < 2 * pairs;
  MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : MPI_UNDEFINED, 0, &players);
  if (plays) {
    for (int i = 1; i < argc; ++i) run(argv[i]);
    MPI_Comm_free(&players);
    if (rank == 0 && size % 2 != 0) MPI_Send(NULL, 0, MPI_BYTE, size - 1, WORD, MPI_COMM_WORLD);
  } else {
    stand_by();
  }
  MPI_Finalize();
  return 0;
}
