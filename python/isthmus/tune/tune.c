/* Measures the networks of a grid, as collectives use them. One process per rank; ranks of one
 * cluster have the same ISTHMUS_CLUSTER. Rank 0 prints one line of JSON:
 *   {"clusters": [{"name", "ranks", "latency", "rate", "message"}],
 *    "pairs": [{"between": [name, name], "latency", "rate", "senders", "message"}],
 *    "fans": [{"source": name, "to": [name...], "rates": [...]}]}
 * latency: seconds one way of 8 B; rate: bytes a second of 1 MiB messages, in a cluster over one
 * rank's link (another host's, if there is one), between two clusters of all senders together;
 * message: seconds per 8 B message, in a cluster of a stream of them, between two clusters of one
 * sent alone; rates: of all senders of one cluster to each other one, to all at the same time; of
 * three clusters and more. 0: cannot be measured there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 7, BIG = 1 << 20, WINDOW = 8, SMALL_WINDOW = 64 };
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

/* `count` messages from `a` to `b`, `window` of them posted at a time. Seconds per message between
 * the arrival of the first window and of the last, known to `b`. */
static double stream(int a, int b, int bytes, int count, int window) {
  MPI_Request requests[SMALL_WINDOW];
  double first = 0, last = 0;
  int in_first = 0;
  for (int done = 0; done < count; done += window) {
    const int now = count - done < window ? count - done : window;
    for (int i = 0; i < now; ++i) {
      if (rank == a) {
        MPI_Isend(big, bytes, MPI_BYTE, b, TAG, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(big, bytes, MPI_BYTE, a, TAG, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(now, requests, MPI_STATUSES_IGNORE);
    last = MPI_Wtime();
    if (done == 0) {
      first = last;
      in_first = now;
    }
  }
  return count > in_first ? (last - first) / (count - in_first) : 0;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* What it costs `a` to send a message while nothing else is under way: the median, known to `a`. */
static double alone(int a, int b) {
  enum { SENDS = 21 };
  double each[SENDS] = {0};
  char byte[8] = {0};
  for (int i = 0; i < SENDS; ++i) {
    const struct timespec pause = {0, 2 * 1000 * 1000};
    if (rank == b) {
      MPI_Recv(byte, 8, MPI_BYTE, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      continue;
    }
    nanosleep(&pause, NULL);
    const double begin = MPI_Wtime();
    MPI_Send(byte, 8, MPI_BYTE, b, TAG, MPI_COMM_WORLD);
    each[i] = MPI_Wtime() - begin;
  }
  qsort(each, SENDS, sizeof each[0], compare);
  return each[SENDS / 2];
}

/* How many messages take about kSeconds, from what a few took at `b`. Known to both. */
static int enough(int a, int b, int bytes, int window) {
  int count = 2 * window;
  const double each = stream(a, b, bytes, count, window);
  if (rank == b) {
    count = each > 0 ? (int)(kSeconds / each) : kMost;
    if (count > kMost) count = kMost;
    if (count < 2 * window) count = 2 * window;
    MPI_Send(&count, 1, MPI_INT, a, TAG, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&count, 1, MPI_INT, b, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return count;
}

/* Between two members of a cluster. Known to all. */
static void measure_cluster(int a, int b, double figures[3]) {
  double mine[3] = {0, 0, 0};
  nap_barrier();
  if (a >= 0 && (rank == a || rank == b)) {
    const double half = latency(a, b, 200);
    const int count = enough(a, b, BIG, WINDOW);
    const double each = stream(a, b, BIG, count, WINDOW);
    const double small = stream(a, b, 8, 100 * SMALL_WINDOW, SMALL_WINDOW);
    if (rank == a) mine[0] = half;
    if (rank == b) {
      mine[1] = each > 0 ? BIG / each : 0;
      mine[2] = small;
    }
  }
  nap_barrier();
  MPI_Allreduce(mine, figures, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Between two clusters: the i-th members send to each other. Known to all. */
static void measure_pair(const int* from, const int* to, int senders, double figures[3]) {
  double mine[3] = {0, 0, 0};
  int partner = -1, sends = 0;
  for (int i = 0; i < senders; ++i) {
    if (rank == from[i]) partner = to[i], sends = 1;
    if (rank == to[i]) partner = from[i];
  }
  const int a = sends ? rank : partner, b = sends ? partner : rank;
  nap_barrier();
  if (rank == from[0] || rank == to[0]) {
    const double half = latency(from[0], to[0], 10), lone = alone(from[0], to[0]);
    if (rank == from[0]) mine[0] = half, mine[2] = lone;
  }
  nap_barrier();
  int count = 0;
  if (partner >= 0) count = enough(a, b, BIG, WINDOW);
  nap_barrier();
  if (partner >= 0) {
    const double each = stream(a, b, BIG, count, WINDOW);
    if (rank == b && each > 0) mine[1] = BIG / each;
  }
  nap_barrier();
  MPI_Allreduce(mine, figures, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* One member's messages to several at the same time, each of whom gets them as fast as it can;
 * `counts` of them, at most WINDOW under way to each. */
static void send_to_all(const int* to, const int* counts, int number) {
  MPI_Request* requests = malloc((size_t)number * WINDOW * sizeof *requests);
  int* begun = calloc((size_t)number, sizeof(int));
  if (!requests || !begun) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < number * WINDOW; ++i) {
    const int k = i / WINDOW;
    requests[i] = MPI_REQUEST_NULL;
    if (begun[k] == counts[k]) continue;
    MPI_Isend(big, BIG, MPI_BYTE, to[k], TAG, MPI_COMM_WORLD, &requests[i]);
    ++begun[k];
  }
  for (;;) {
    int i;
    MPI_Waitany(number * WINDOW, requests, &i, MPI_STATUS_IGNORE);
    if (i == MPI_UNDEFINED) break;
    const int k = i / WINDOW;
    if (begun[k] == counts[k]) continue;
    MPI_Isend(big, BIG, MPI_BYTE, to[k], TAG, MPI_COMM_WORLD, &requests[i]);
    ++begun[k];
  }
  free(requests);
  free(begun);
}

/* From cluster `source` to each other one at the same time, each pair for about as long as it would
 * take alone: `alone` are the pairs' rates. Known to all. */
static void measure_fan(int source, int clusters, const int* members, const int* sizes,
                        const double* alone, double* rates) {
  double* mine = calloc((size_t)clusters, sizeof *mine);
  int* to = malloc((size_t)clusters * sizeof *to);
  int* counts = malloc((size_t)clusters * sizeof *counts);
  if (!mine || !to || !counts) MPI_Abort(MPI_COMM_WORLD, 1);
  int number = 0, from = -1, expected = 0, cluster = -1;
  for (int c = 0; c < clusters; ++c) {
    const int senders = sizes[source] < sizes[c] ? sizes[source] : sizes[c];
    int count = (int)(kSeconds * alone[c] / senders / BIG);
    if (count > kMost) count = kMost;
    if (count < 3 * WINDOW) count = 3 * WINDOW;
    for (int i = 0; i < senders && c != source; ++i) {
      const int a = members[source * size + i], b = members[c * size + i];
      if (rank == a) to[number] = b, counts[number++] = count;
      if (rank == b) from = a, expected = count, cluster = c;
    }
  }
  nap_barrier();
  if (number > 0) send_to_all(to, counts, number);
  if (from >= 0) {
    const double each = stream(from, rank, BIG, expected, WINDOW);
    if (each > 0) mine[cluster] = BIG / each;
  }
  nap_barrier();
  MPI_Allreduce(mine, rates, clusters, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(mine);
  free(to);
  free(counts);
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
  double* rates = calloc((size_t)size * (size_t)size, sizeof *rates); /* of pairs, both ways */
  double* together = malloc((size_t)size * sizeof *together);
  big = calloc(BIG, 1);
  if (!all || !members || !counts || !rates || !together || !big) MPI_Abort(MPI_COMM_WORLD, 1);
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
    double figures[3];
    measure_cluster(other < 0 ? -1 : of[0], other < 0 ? -1 : of[other], figures);
    if (rank == 0) {
      printf("%s{\"name\": \"%s\", \"ranks\": %d, \"latency\": %.9g, \"rate\": %.9g, ",
             c ? ", " : "", all[of[0]][0], counts[c], figures[0], figures[1]);
      printf("\"message\": %.9g}", figures[2]);
    }
  }
  if (rank == 0) printf("], \"pairs\": [");
  for (int a = 0; a < clusters; ++a) {
    for (int b = a + 1; b < clusters; ++b) {
      const int *of_a = members + a * size, *of_b = members + b * size;
      const int senders = counts[a] < counts[b] ? counts[a] : counts[b];
      double figures[3];
      measure_pair(of_a, of_b, senders, figures);
      rates[a * size + b] = rates[b * size + a] = figures[1];
      if (rank == 0) {
        printf("%s{\"between\": [\"%s\", \"%s\"], ", a + b > 1 ? ", " : "", all[of_a[0]][0],
               all[of_b[0]][0]);
        printf("\"latency\": %.9g, \"rate\": %.9g, \"senders\": %d, \"message\": %.9g}", figures[0],
               figures[1], senders, figures[2]);
      }
    }
  }
  if (rank == 0) printf("], \"fans\": [");
  for (int a = 0; a < clusters && clusters > 2; ++a) {
    measure_fan(a, clusters, members, counts, rates + a * size, together);
    if (rank != 0) continue;
    printf("%s{\"source\": \"%s\", \"to\": [", a ? ", " : "", all[members[a * size]][0]);
    for (int b = 0, n = 0; b < clusters; ++b) {
      if (b != a) printf("%s\"%s\"", n++ ? ", " : "", all[members[b * size]][0]);
    }
    printf("], \"rates\": [");
    for (int b = 0, n = 0; b < clusters; ++b) {
      if (b != a) printf("%s%.9g", n++ ? ", " : "", together[b]);
    }
    printf("]}");
  }
  if (rank == 0) printf("]}\n");
  free(rates);
  free(together);
  free(all);
  free(members);
  free(counts);
  free(big);
  MPI_Finalize();
  return 0;
}
