/* Measures the networks of a grid, as collectives use them. One process per rank; ranks of one
 * cluster have the same ISTHMUS_CLUSTER. Rank 0 prints one line of JSON:
 *   {"clusters": [{"name", "ranks", "latency", "bytes", "seconds", "message",
 *                  "halves", "halves_bytes", "halves_seconds"}],
 *    "pairs": [{"between": [name, name], "latency", "bytes", "seconds", "senders", "message"}],
 *    "fans": [{"source": name, "to": [name...], "bytes": [...], "seconds": [...],
 *              "both_bytes", "both_seconds"}]}
 * latency: seconds one way of 8 B; bytes and seconds: how much went, and how long it took from the
 * word to begin until the receivers had all of it, a round trip included; in a cluster over one
 * rank's link (another host's, if there is one), between two clusters by all senders together, in a
 * fan from one cluster to each other one at the same time (of three clusters and more), and both
 * ways at the same time between its source and the cluster that it carries most to; halves: ranks
 * of one half of a cluster's hosts that send to the other half at the same time; message:
 * seconds per 8 B message, in a cluster of a stream of them, between two clusters of one sent
 * alone. 0: cannot be measured there.
 *
 * All in one file, for each MPI's own mpicc compiles it where it runs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 7, WORD = 8, BIG = 1 << 20, WINDOW = 8, SMALL_WINDOW = 64 };
static const double kSeconds = 1.0; /* of a stream, about */
static const int kMost = 256;       /* messages of one */

static int rank, size;
static char* big;

/* Sleeps while it waits, so that those who measure have the processors. */
static void nap_barrier(void) {
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    const struct timespec nap = {0, 500 * 1000};
    nanosleep(&nap, NULL);
  }
}

/* The least half round trip between `a` and `b`, known to `a`. */
static double latency(int a, int b, int rounds) {
  double least = 1e9;
  char byte[8] = {0};
  for (int i = 0; i < rounds + 3; ++i) {
    const double begin = MPI_Wtime();
    if (rank == a) {
      MPI_Send(byte, 8, MPI_BYTE, b, TAG, MPI_COMM_WORLD);
      MPI_Recv(byte, 8, MPI_BYTE, b, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(byte, 8, MPI_BYTE, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(byte, 8, MPI_BYTE, a, TAG, MPI_COMM_WORLD);
    }
    const double half = (MPI_Wtime() - begin) / 2;
    if (i >= 3 && half < least) least = half;
  }
  return least;
}

/* `count` messages to or from `peer`, `window` of them posted at a time. */
static void stream(int peer, int sends, int bytes, int count, int window) {
  MPI_Request requests[SMALL_WINDOW];
  for (int i = 0; i < window; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < count; ++i) {
    MPI_Request* const next = &requests[i % window];
    MPI_Wait(next, MPI_STATUS_IGNORE);
    if (sends) {
      MPI_Isend(big, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, next);
    } else {
      MPI_Irecv(big, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, next);
    }
  }
  MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The time that `a` needs to send a message while nothing else is in flight. It is the least median
   of some rows of sends, known to `a`. */
static double alone(int a, int b) {
  enum { SENDS = 21, ROWS = 4 };
  double least = 1e9;
  char byte[8] = {0};
  for (int i = 0; i < SENDS * ROWS && rank == b; ++i) {
    MPI_Recv(byte, 8, MPI_BYTE, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int row = 0; row < ROWS && rank == a; ++row) {
    double each[SENDS];
    for (int i = 0; i < SENDS; ++i) {
      const struct timespec pause = {0, 2 * 1000 * 1000};
      nanosleep(&pause, NULL);
      const double begin = MPI_Wtime();
      MPI_Send(byte, 8, MPI_BYTE, b, TAG, MPI_COMM_WORLD);
      each[i] = MPI_Wtime() - begin;
    }
    qsort(each, SENDS, sizeof each[0], compare);
    if (each[SENDS / 2] < least) least = each[SENDS / 2];
  }
  return least;
}

/* Seconds per message of a stream of small ones from `a` to `b`, from `b`'s word to begin: the
 * least of some, known to `b`. */
static double in_stream(int a, int b) {
  enum { COUNT = 50 * SMALL_WINDOW, STREAMS = 6 };
  double least = 1e9;
  for (int i = 0; i < STREAMS; ++i) {
    const double begin = MPI_Wtime();
    if (rank == a) MPI_Recv(NULL, 0, MPI_BYTE, b, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == b) MPI_Send(NULL, 0, MPI_BYTE, a, WORD, MPI_COMM_WORLD);
    stream(rank == a ? b : a, rank == a, 8, COUNT, SMALL_WINDOW);
    const double each = (MPI_Wtime() - begin) / COUNT;
    if (each < least) least = each;
  }
  return least;
}

/* The i-th of `from` sends `count` messages of BIG bytes to the i-th of `to`. */
struct Flow {
  const int *from, *to;
  int pairs, count;
};

/* What this process sends for several flows at the same time, each receiver's as fast as it takes
 * it, at most WINDOW under way; to none before the head of its flow has said so. */
static void send_all(const struct Flow* flows, int number) {
  int* to = malloc((size_t)number * sizeof *to);
  int* left = calloc((size_t)number, sizeof *left);
  const int slots = number * (WINDOW + 1);
  MPI_Request* requests = malloc((size_t)slots * sizeof *requests);
  if (!to || !left || !requests) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < slots; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int f = 0; f < number; ++f) {
    for (int i = 0; i < flows[f].pairs; ++i) {
      if (rank != flows[f].from[i]) continue;
      to[f] = flows[f].to[i], left[f] = flows[f].count;
      MPI_Irecv(NULL, 0, MPI_BYTE, flows[f].to[0], WORD, MPI_COMM_WORLD,
                &requests[number * WINDOW + f]);
    }
  }
  for (;;) {
    int slot;
    MPI_Waitany(slots, requests, &slot, MPI_STATUS_IGNORE);
    if (slot == MPI_UNDEFINED) break;
    const int word = slot >= number * WINDOW;
    const int f = word ? slot - number * WINDOW : slot / WINDOW;
    const int first = word ? f * WINDOW : slot, last = word ? first + WINDOW : slot + 1;
    for (int i = first; i < last && left[f] > 0; ++i, --left[f]) {
      MPI_Isend(big, BIG, MPI_BYTE, to[f], TAG, MPI_COMM_WORLD, &requests[i]);
    }
  }
  free(requests);
  free(left);
  free(to);
}

/* Receives this process's part of a flow. Its head, the first receiver, tells the senders to begin,
 * and knows how long it took by its own clock until all receivers had everything. The bytes that a
 * receiver had with its first messages would not do for a beginning. Messages in flight at the same
 * time share the wire, and most of the rest has come by then. */
static double receive_all(const struct Flow* flow) {
  const int head = rank == flow->to[0];
  const double begin = MPI_Wtime();
  for (int i = 0; i < flow->pairs && head; ++i) {
    MPI_Send(NULL, 0, MPI_BYTE, flow->from[i], WORD, MPI_COMM_WORLD);
  }
  for (int i = 0; i < flow->pairs; ++i) {
    if (rank != flow->to[i]) continue;
    stream(flow->from[i], 0, BIG, flow->count, WINDOW);
    if (!head) MPI_Send(NULL, 0, MPI_BYTE, flow->to[0], WORD, MPI_COMM_WORLD);
  }
  for (int i = 1; i < flow->pairs && head; ++i) {
    MPI_Recv(NULL, 0, MPI_BYTE, flow->to[i], WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return head ? MPI_Wtime() - begin : 0;
}

/* Flows at the same time, `seconds` of each known to all. No process has a part in two of them,
 * unless it sends in all of them. */
static void carry(const struct Flow* flows, int number, double* seconds) {
  double* mine = calloc((size_t)number, sizeof *mine);
  if (!mine) MPI_Abort(MPI_COMM_WORLD, 1);
  nap_barrier();
  for (int f = 0; f < number; ++f) {
    for (int i = 0; i < flows[f].pairs; ++i) {
      if (rank == flows[f].to[i]) mine[f] = receive_all(&flows[f]);
    }
  }
  send_all(flows, number);
  nap_barrier();
  MPI_Allreduce(mine, seconds, number, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(mine);
}

/* The number of messages that takes about kSeconds, if as many as these took `seconds`. */
static int enough(int messages, double seconds) {
  const double count = seconds > 0 ? messages * kSeconds / seconds : kMost;
  return count > kMost ? kMost : count < WINDOW ? WINDOW : (int)count;
}

/* Bytes and seconds of a flow between `pairs` ranks, after a short one that has its streams
 * up to speed. Known to all. */
static void measure_flow(const int* from, const int* to, int pairs, double carried[2]) {
  struct Flow flow = {from, to, pairs, WINDOW};
  carry(&flow, 1, &carried[1]);
  flow.count = enough(WINDOW, carried[1]);
  carry(&flow, 1, &carried[1]);
  carried[0] = (double)BIG * flow.count * pairs;
}

enum { LATENCY, BYTES, SECONDS, MESSAGE, FIGURES };

/* Between two members of a cluster. Known to all. */
static void measure_cluster(int a, int b, double figures[FIGURES]) {
  double mine[2] = {0, 0}, all[2], carried[2] = {0, 0};
  nap_barrier();
  if (a >= 0 && (rank == a || rank == b)) {
    const double half = latency(a, b, 200), small = in_stream(a, b);
    if (rank == a) mine[0] = half;
    if (rank == b) mine[1] = small;
  }
  nap_barrier();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (a >= 0) measure_flow(&a, &b, 1, carried);
  figures[LATENCY] = all[0], figures[MESSAGE] = all[1];
  figures[BYTES] = carried[0], figures[SECONDS] = carried[1];
}

/* Measures pairs of ranks on different hosts at the same time: one half of a cluster's `count`
 * members sends to the other. Returns the number of pairs; 0: fewer than two. Known to all. */
static int measure_halves(const int* members, int count, const int* other_host, double carried[2]) {
  const int half = count / 2;
  int* from = malloc((size_t)size * sizeof *from);
  int* to = malloc((size_t)size * sizeof *to);
  int pairs = 0;
  if (!from || !to) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < half; ++i) {
    if (!other_host[i]) continue;
    from[pairs] = members[i];
    to[pairs++] = members[half + i];
  }
  carried[0] = carried[1] = 0;
  if (pairs > 1) measure_flow(from, to, pairs, carried);
  free(from);
  free(to);
  return pairs > 1 ? pairs : 0;
}

/* Between two clusters: the i-th members send to each other. Known to all. */
static void measure_pair(const int* from, const int* to, int senders, double figures[FIGURES]) {
  double mine[2] = {0, 0}, all[2], carried[2];
  nap_barrier();
  if (rank == from[0] || rank == to[0]) {
    const double half = latency(from[0], to[0], 10), lone = alone(from[0], to[0]);
    if (rank == from[0]) mine[0] = half, mine[1] = lone;
  }
  nap_barrier();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  measure_flow(from, to, senders, carried);
  figures[LATENCY] = all[0], figures[MESSAGE] = all[1];
  figures[BYTES] = carried[0], figures[SECONDS] = carried[1];
}

/* Measures flows from cluster `source` to all others at the same time, each pair for about as long
   as it would take alone: `alone` are the pairs' bytes a second. The values to itself are 0. Known
   to all. */
static void measure_fan(int source, int clusters, const int* members, const int* sizes,
                        const double* alone, double* bytes, double* seconds) {
  struct Flow* flows = malloc((size_t)clusters * sizeof *flows);
  if (!flows) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int c = 0; c < clusters; ++c) {
    const int senders = sizes[source] < sizes[c] ? sizes[source] : sizes[c];
    const struct Flow flow = {members + source * size, members + c * size,
                              c == source ? 0 : senders,
                              enough(1, alone[c] > 0 ? BIG * senders / alone[c] : 0)};
    flows[c] = flow;
    bytes[c] = (double)BIG * flow.count * flow.pairs;
  }
  carry(flows, clusters, seconds);
  free(flows);
}

/* `count` messages to `peer` and from it, WINDOW of each at a time. */
static void exchange(int peer, int count) {
  char* const into = malloc(BIG);
  MPI_Request in[WINDOW], out[WINDOW];
  if (!into) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < WINDOW; ++i) in[i] = out[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < count; ++i) {
    MPI_Wait(&in[i % WINDOW], MPI_STATUS_IGNORE);
    MPI_Irecv(into, BIG, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &in[i % WINDOW]);
    MPI_Wait(&out[i % WINDOW], MPI_STATUS_IGNORE);
    MPI_Isend(big, BIG, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &out[i % WINDOW]);
  }
  MPI_Waitall(WINDOW, in, MPI_STATUSES_IGNORE);
  MPI_Waitall(WINDOW, out, MPI_STATUSES_IGNORE);
  free(into);
}

/* Between two clusters both ways at the same time: bytes of both, and the seconds from their
 * beginning until the last has everything. `alone`: bytes a second one way. Known to all. */
static void measure_both(const int* from, const int* to, int pairs, double alone,
                         double carried[2]) {
  const int count = enough(1, alone > 0 ? (double)BIG * pairs / alone : 0);
  double mine = 0;
  nap_barrier();
  for (int i = 0; i < pairs; ++i) {
    if (rank != from[i] && rank != to[i]) continue;
    const double begin = MPI_Wtime();
    exchange(rank == from[i] ? to[i] : from[i], count);
    mine = MPI_Wtime() - begin;
  }
  nap_barrier();
  MPI_Allreduce(&mine, &carried[1], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  carried[0] = 2.0 * BIG * count * pairs;
}

static void print_figures(const double figures[FIGURES]) {
  printf("\"latency\": %.9g, \"bytes\": %.9g, \"seconds\": %.9g, \"message\": %.9g",
         figures[LATENCY], figures[BYTES], figures[SECONDS], figures[MESSAGE]);
}

/* `values` of all clusters but one. */
static void print_others(const char* key, const double* values, int clusters, int but) {
  printf(", \"%s\": [", key);
  for (int c = 0, n = 0; c < clusters; ++c) {
    if (c != but) printf("%s%.9g", n++ ? ", " : "", values[c]);
  }
  printf("]");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { NAME = 64 };
  char mine[2][NAME] = {{0}};
  char host[MPI_MAX_PROCESSOR_NAME];
  int length;
  const char* cluster = getenv("ISTHMUS_CLUSTER");
  snprintf(mine[0], NAME, "%s", cluster ? cluster : "");
  MPI_Get_processor_name(host, &length);
  snprintf(mine[1], NAME, "%.63s", host);
  char(*all)[2][NAME] = malloc((size_t)size * sizeof *all);
  int* members = malloc((size_t)size * (size_t)size * sizeof(int));
  int* counts = calloc((size_t)size, sizeof(int));
  int* other_host = calloc((size_t)size, sizeof(int));
  double* rates = calloc((size_t)size * (size_t)size, sizeof *rates); /* of pairs, both ways */
  double* bytes = malloc((size_t)size * sizeof *bytes);
  double* seconds = malloc((size_t)size * sizeof *seconds);
  big = calloc(BIG, 1);
  if (!all || !members || !counts || !other_host || !rates || !bytes || !seconds || !big) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allgather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  int clusters = 0;
  for (int r = 0; r < size; ++r) {
    int c = 0;
    while (c < clusters && strcmp(all[members[c * size]][0], all[r][0]) != 0) ++c;
    if (c == clusters) ++clusters;
    members[c * size + counts[c]++] = r;
  }
  if (rank == 0) printf("{\"clusters\": [");
  for (int c = 0; c < clusters; ++c) {
    const int* of = members + c * size;
    int other = counts[c] > 1 ? 1 : -1;
    for (int i = counts[c] - 1; i > 0; --i) {
      if (strcmp(all[of[i]][1], all[of[0]][1]) != 0) other = i;
    }
    for (int i = 0; i < counts[c] / 2; ++i) {
      other_host[i] = strcmp(all[of[i]][1], all[of[counts[c] / 2 + i]][1]) != 0;
    }
    double figures[FIGURES], across[2];
    const int halves = measure_halves(of, counts[c], other_host, across);
    measure_cluster(other < 0 ? -1 : of[0], other < 0 ? -1 : of[other], figures);
    if (rank == 0) {
      printf("%s{\"name\": \"%s\", \"ranks\": %d, ", c ? ", " : "", all[of[0]][0], counts[c]);
      print_figures(figures);
      printf(", \"halves\": %d, \"halves_bytes\": %.9g, \"halves_seconds\": %.9g}", halves,
             across[0], across[1]);
    }
  }
  if (rank == 0) printf("], \"pairs\": [");
  for (int a = 0; a < clusters; ++a) {
    for (int b = a + 1; b < clusters; ++b) {
      const int *of_a = members + a * size, *of_b = members + b * size;
      const int senders = counts[a] < counts[b] ? counts[a] : counts[b];
      double figures[FIGURES];
      measure_pair(of_a, of_b, senders, figures);
      rates[a * size + b] = rates[b * size + a] = figures[BYTES] / figures[SECONDS];
      if (rank == 0) {
        printf("%s{\"between\": [\"%s\", \"%s\"], ", a + b > 1 ? ", " : "", all[of_a[0]][0],
               all[of_b[0]][0]);
        printf("\"senders\": %d, ", senders);
        print_figures(figures);
        printf("}");
      }
    }
  }
  if (rank == 0) printf("], \"fans\": [");
  for (int a = 0; a < clusters && clusters > 2; ++a) {
    measure_fan(a, clusters, members, counts, rates + a * size, bytes, seconds);
    int peer = a == 0; /* the cluster that most is carried to */
    for (int b = 0; b < clusters; ++b) {
      if (b != a && rates[a * size + b] > rates[a * size + peer]) peer = b;
    }
    double both[2];
    measure_both(members + a * size, members + peer * size,
                 counts[a] < counts[peer] ? counts[a] : counts[peer], rates[a * size + peer], both);
    if (rank != 0) continue;
    printf("%s{\"source\": \"%s\", \"to\": [", a ? ", " : "", all[members[a * size]][0]);
    for (int b = 0, n = 0; b < clusters; ++b) {
      if (b != a) printf("%s\"%s\"", n++ ? ", " : "", all[members[b * size]][0]);
    }
    printf("]");
    print_others("bytes", bytes, clusters, a);
    print_others("seconds", seconds, clusters, a);
    printf(", \"both_bytes\": %.9g, \"both_seconds\": %.9g}", both[0], both[1]);
  }
  if (rank == 0) printf("]}\n");
  free(rates);
  free(bytes);
  free(seconds);
  free(all);
  free(members);
  free(counts);
  free(other_host);
  free(big);
  MPI_Finalize();
  return 0;
}
