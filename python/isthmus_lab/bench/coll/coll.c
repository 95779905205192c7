/* The collectives of `isthmus bench coll`, for any MPI. usage: coll [blocks=N,N...] TASK...
 *
 *   TASK: COLLECTIVE[@interleaved]:BYTES:REPETITIONS[:TESTS]
 *
 * COLLECTIVE is barrier, bcast, reduce..., or ibcast and so on, the non-blocking form. BYTES is the
 * message of bcast, reduce, allreduce, scan and exscan, and the block of one rank of the others.
 * `blocks` are the sizes of the clusters, whose ranks @interleaved takes in turn.
 *
 * A repetition begins on all ranks at an agreed time of one clock and lasts, on each rank, until
 * its call returns. Agreement on the time is not measured, and no delay of a barrier hides a part
 * of it. Clocks of other hosts are compared with rank 0's by round trips before each task.
 *
 * Rank 0 prints a line of JSON for each task: for each repetition the seconds until the last rank
 * was done, their median over ranks, and those until the first rank was done. For non-blocking
 * forms these are of the call and its MPI_Wait; "overlapped" are the seconds with "computing"
 * seconds between the two, in which a rank is away from MPI but for TESTS calls of MPI_Test. It
 * sleeps then: on a machine whose ranks share cores, ranks that compute would be measured as
 * waiting for one another.
 *
 * The first execution is not counted, and its result is checked; where it took long it counts.
 *
 * All in one file, for each MPI's own mpicc compiles it where it runs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOT = 0, MOST_BLOCKS = 64, CLOCK_ROUNDS = 8, CLOCK_TAG = 1, IDENTITY = 96 };
/* Seconds that a rank leaves to those that are not done yet, before it agrees on the next start:
 * they may share its processor. */
static const double QUIET = 3e-3;
static const double LONG = 2.0;       /* seconds: an execution that needs no warming up before it */
static const double NAP = 5e-4;       /* seconds between looks at the network while waiting */
static const double LEAST_GAP = 2e-3; /* seconds between repetitions, beyond what agreeing takes */
static const double MOST_GAP = 4.0;   /* the same, where ranks came late */

/* The effect of a collective on the buffers; sums are of doubles. */
enum Kind { NOTHING, COPY, COLLECT, SPREAD, EXCHANGE, SUM, SUM_BLOCKS, PREFIX, PREFIX_BEFORE };

typedef struct {
  const char* name;
  enum Kind kind;
  int rooted;
} Collective;

static const Collective COLLECTIVES[] = {
    {"barrier", NOTHING, 0},
    {"bcast", COPY, 1},
    {"reduce", SUM, 1},
    {"allreduce", SUM, 0},
    {"gather", COLLECT, 1},
    {"gatherv", COLLECT, 1},
    {"scatter", SPREAD, 1},
    {"scatterv", SPREAD, 1},
    {"allgather", COLLECT, 0},
    {"allgatherv", COLLECT, 0},
    {"alltoall", EXCHANGE, 0},
    {"alltoallv", EXCHANGE, 0},
    {"reduce_scatter_block", SUM_BLOCKS, 0},
    {"reduce_scatter", SUM_BLOCKS, 0},
    {"scan", PREFIX, 0},
    {"exscan", PREFIX_BEFORE, 0},
};

typedef struct {
  const Collective* what;
  int nonblocking;
  int count; /* of a message or block: doubles for sums, else bytes */
  int *counts, *offsets;
  char *out, *in;
  size_t out_bytes, in_bytes;
} Work;

static MPI_Comm comm;
static int rank, size;
static int blocks[MOST_BLOCKS], block_count;

static void fail(const char* text, const char* why) {
  fprintf(stderr, "coll: \"%s\": %s\n", text, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void* allocate(size_t bytes) {
  void* memory = malloc(bytes ? bytes : 1);
  if (!memory) fail("memory", "not enough");
  memset(memory, 0xee, bytes);
  return memory;
}

/* -- clocks ------------------------------------------------------------------------------------ */

static double offset; /* to be added to this host's clock for that of rank 0 */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec + offset;
}

static void nap(double seconds) {
  if (seconds <= 0) return;
  const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

/* Identifies the clock, not the host: nodes of a lab have one in common. */
static void identify(char* text) {
  memset(text, 0, IDENTITY);
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file || !fgets(text, IDENTITY / 2, file)) snprintf(text, IDENTITY, "rank %d", rank);
  if (file) fclose(file);
  const size_t length = strlen(text);
  if (readlink("/proc/self/ns/time", text + length, IDENTITY - 1 - length) < 0) text[length] = 0;
}

static double compare_clocks(int other) {
  double best = 1e30, found = 0;
  for (int i = 0; i < CLOCK_ROUNDS; ++i) {
    double theirs = 0;
    const double begin = now();
    MPI_Send(&theirs, 1, MPI_DOUBLE, other, CLOCK_TAG, comm);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, other, CLOCK_TAG, comm, MPI_STATUS_IGNORE);
    const double end = now();
    if (end - begin < best) {
      best = end - begin;
      found = (begin + end) / 2 - theirs;
    }
  }
  return found;
}

static void set_clocks(void) {
  char mine[IDENTITY];
  identify(mine);
  char* all = allocate((size_t)size * IDENTITY);
  double* offsets = allocate((size_t)size * sizeof(double));
  MPI_Allgather(mine, IDENTITY, MPI_CHAR, all, IDENTITY, MPI_CHAR, comm);
  offset = 0;
  offsets[0] = 0;
  for (int i = 1; i < size; ++i) {
    int same = 0;
    while (strcmp(all + (size_t)same * IDENTITY, all + (size_t)i * IDENTITY) != 0) ++same;
    if (same < i) {
      offsets[i] = offsets[same];
    } else if (rank == 0) {
      offsets[i] = compare_clocks(i);
    } else if (rank == i) {
      for (int k = 0; k < CLOCK_ROUNDS; ++k) {
        double word;
        MPI_Recv(&word, 1, MPI_DOUBLE, 0, CLOCK_TAG, comm, MPI_STATUS_IGNORE);
        word = now();
        MPI_Send(&word, 1, MPI_DOUBLE, 0, CLOCK_TAG, comm);
      }
    }
  }
  MPI_Bcast(offsets, size, MPI_DOUBLE, 0, comm);
  offset = offsets[rank];
  free(offsets);
  free(all);
}

/* Until an agreed time, with an eye on the network: others may need this rank to pass things on. */
static void wait_until(double when) {
  for (double left; (left = when - now()) > 0;) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, CLOCK_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    nap(left < NAP ? left : NAP);
  }
}

/* -- the collectives --------------------------------------------------------------------------- */

static void call(const Work* w, MPI_Request* request) {
  const char* name = w->what->name;
  const int n = w->count, *counts = w->counts, *offsets = w->offsets;
  char *out = w->out, *in = w->in;
#define IS(text) (strcmp(name, text) == 0)
#define RUN(Blocking, Nonblocking, ...) \
  (request ? MPI_##Nonblocking(__VA_ARGS__, comm, request) : MPI_##Blocking(__VA_ARGS__, comm))
  if (IS("barrier")) {
    request ? MPI_Ibarrier(comm, request) : MPI_Barrier(comm);
  } else if (IS("bcast")) {
    RUN(Bcast, Ibcast, in, n, MPI_BYTE, ROOT);
  } else if (IS("reduce")) {
    RUN(Reduce, Ireduce, out, in, n, MPI_DOUBLE, MPI_SUM, ROOT);
  } else if (IS("allreduce")) {
    RUN(Allreduce, Iallreduce, out, in, n, MPI_DOUBLE, MPI_SUM);
  } else if (IS("gather")) {
    RUN(Gather, Igather, out, n, MPI_BYTE, in, n, MPI_BYTE, ROOT);
  } else if (IS("gatherv")) {
    RUN(Gatherv, Igatherv, out, n, MPI_BYTE, in, counts, offsets, MPI_BYTE, ROOT);
  } else if (IS("scatter")) {
    RUN(Scatter, Iscatter, out, n, MPI_BYTE, in, n, MPI_BYTE, ROOT);
  } else if (IS("scatterv")) {
    RUN(Scatterv, Iscatterv, out, counts, offsets, MPI_BYTE, in, n, MPI_BYTE, ROOT);
  } else if (IS("allgather")) {
    RUN(Allgather, Iallgather, out, n, MPI_BYTE, in, n, MPI_BYTE);
  } else if (IS("allgatherv")) {
    RUN(Allgatherv, Iallgatherv, out, n, MPI_BYTE, in, counts, offsets, MPI_BYTE);
  } else if (IS("alltoall")) {
    RUN(Alltoall, Ialltoall, out, n, MPI_BYTE, in, n, MPI_BYTE);
  } else if (IS("alltoallv")) {
    RUN(Alltoallv, Ialltoallv, out, counts, offsets, MPI_BYTE, in, counts, offsets, MPI_BYTE);
  } else if (IS("reduce_scatter_block")) {
    RUN(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, MPI_DOUBLE, MPI_SUM);
  } else if (IS("reduce_scatter")) {
    RUN(Reduce_scatter, Ireduce_scatter, out, in, counts, MPI_DOUBLE, MPI_SUM);
  } else if (IS("scan")) {
    RUN(Scan, Iscan, out, in, n, MPI_DOUBLE, MPI_SUM);
  } else {
    RUN(Exscan, Iexscan, out, in, n, MPI_DOUBLE, MPI_SUM);
  }
#undef RUN
#undef IS
}

/* -- what is sent, and what has to come -------------------------------------------------------- */

static char byte_of(int from, int to, size_t i) {
  return (char)(31 * from + 17 * to + 7 * (int)(i % 4099) + (int)(i >> 12));
}

static void fill(const Work* w) {
  const size_t block = (size_t)w->count;
  if (w->what->kind >= SUM) {
    double* out = (double*)w->out;
    for (size_t i = 0; i < w->out_bytes / sizeof(double); ++i)
      out[i] = rank + 1 + (double)(i % 1000);
  } else if (w->what->kind == COPY) {
    for (size_t i = 0; rank == ROOT && i < block; ++i) w->in[i] = byte_of(ROOT, 0, i);
  } else {
    for (size_t i = 0; i < w->out_bytes; ++i)
      w->out[i] = byte_of(rank, (int)(i / block), i % block);
  }
}

/* The sum over the ranks from 0 to `last`. */
static double sum(int last, size_t i) {
  const double ranks = last + 1;
  return ranks * (ranks + 1) / 2 + ranks * (double)(i % 1000);
}

static int is_right(const Work* w) {
  const enum Kind kind = w->what->kind;
  const size_t block = (size_t)w->count;
  if (w->what->rooted && rank != ROOT && (kind == COLLECT || kind == SUM)) return 1;
  if (kind == PREFIX_BEFORE && rank == 0) return 1; /* has no result */
  if (kind >= SUM) {
    const double* in = (const double*)w->in;
    const int last = kind == PREFIX ? rank : kind == PREFIX_BEFORE ? rank - 1 : size - 1;
    const size_t first = kind == SUM_BLOCKS ? (size_t)rank * block : 0;
    for (size_t i = 0; i < block; ++i)
      if (in[i] != sum(last, first + i)) return 0;
    return 1;
  }
  for (size_t i = 0; i < w->in_bytes; ++i) {
    const int part = (int)(i / block);
    const int from = kind == COPY || kind == SPREAD ? ROOT : part;
    const int to = kind == SPREAD || kind == EXCHANGE ? rank : 0;
    if (w->in[i] != byte_of(from, to, i % block)) return 0;
  }
  return 1;
}

static void check(const char* text, const Work* w) {
  int wrong = is_right(w) ? size : rank, first;
  MPI_Allreduce(&wrong, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first < size && rank == first) fail(text, "the result is wrong");
  if (first < size) MPI_Barrier(comm); /* until the abort */
}

static Work prepare(const char* text, const Collective* what, int nonblocking, long long bytes) {
  Work w = {what, nonblocking, (int)bytes, NULL, NULL, NULL, NULL, (size_t)bytes, (size_t)bytes};
  const int many_out = what->kind == EXCHANGE || what->kind == SUM_BLOCKS || what->kind == SPREAD;
  const int many_in = what->kind == EXCHANGE || what->kind == COLLECT;
  if (what->kind == COPY) w.out_bytes = 0;
  const int here = !what->rooted || rank == ROOT;
  if (many_out) w.out_bytes = here ? w.out_bytes * (size_t)size : 0;
  if (many_in) w.in_bytes = here ? w.in_bytes * (size_t)size : 0;
  if (bytes * size >= 1LL << 31) fail(text, "is too large for the offsets of the v forms");
  if (what->kind >= SUM) {
    if (bytes % (long long)sizeof(double))
      fail(text, "is not a multiple of 8 bytes, the size of a double");
    w.count = (int)(bytes / (long long)sizeof(double));
  }
  w.out = allocate(w.out_bytes);
  w.in = allocate(w.in_bytes);
  w.counts = allocate(sizeof(int) * (size_t)size);
  w.offsets = allocate(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) {
    w.counts[i] = w.count;
    w.offsets[i] = i * w.count;
  }
  fill(&w);
  return w;
}

static void release(Work* w) {
  free(w->out);
  free(w->in);
  free(w->counts);
  free(w->offsets);
}

/* -- measuring --------------------------------------------------------------------------------- */

static double start_time; /* when the next repetition begins; the same on all ranks */
static double gap;        /* between the end of one and the start of the next */

static void agree(void) {
  double longest = LEAST_GAP, took, most, first;
  for (int i = 0; i < 3; ++i) {
    const double begin = now();
    double mine[2] = {0, 0}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, comm);
    took = now() - begin;
    if (took > longest) longest = took;
  }
  MPI_Allreduce(&longest, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
  gap = 1.5 * most + LEAST_GAP;
  first = now() + most;
  MPI_Bcast(&first, 1, MPI_DOUBLE, 0, comm);
  start_time = first + gap;
}

/* Computes for `seconds`, with MPI_Test every now and then. */
static void compute(double seconds, int tests, MPI_Request* request) {
  const double begin = now();
  for (int i = 1; i <= tests + 1; ++i) {
    nap(begin + seconds * i / (tests + 1) - now());
    int done;
    if (i <= tests) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

/* One execution: the seconds of this rank and, returned, of the last. Negative: a rank was not yet
 * ready when it had to begin. The next may begin when the agreement on this one has come round. */
static double execute(const Work* w, double computing, int tests, double* mine) {
  const double late = now() - start_time;
  wait_until(start_time);
  if (w->nonblocking) {
    MPI_Request request;
    call(w, &request);
    if (computing > 0) compute(computing, tests, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    call(w, NULL);
  }
  *mine = now() - start_time;
  nap(QUIET);
  double said[2] = {*mine, late}, all[2];
  MPI_Allreduce(said, all, 2, MPI_DOUBLE, MPI_MAX, comm);
  if (all[1] > 0 && gap < MOST_GAP) gap *= 1.5;
  start_time += all[0] + QUIET + gap;
  return all[1] > 0 ? -1 : all[0];
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int n) {
  qsort(values, (size_t)n, sizeof(double), ascending);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void print_list(const char* name, const double* values, int n) {
  printf(",\"%s\":[", name);
  for (int i = 0; i < n; ++i) printf("%s%.9g", i ? "," : "", values[i]);
  printf("]");
}

/* Seconds until the last rank was done; until the first was, and medians over ranks (of rank 0
 * alone). */
typedef struct {
  double *last, *middle, *first;
} Times;

static void forget(Times times) {
  free(times.last);
  free(times.middle);
  free(times.first);
}

static Times repeat(const char* text, const Work* w, int repetitions, int done, double first,
                    double first_mine, double computing, int tests) {
  const size_t n = (size_t)repetitions;
  Times times = {allocate(n * sizeof(double)), allocate(n * sizeof(double)),
                 allocate(n * sizeof(double))};
  double* mine = allocate(n * sizeof(double));
  double* all = allocate(rank == 0 ? n * (size_t)size * sizeof(double) : 0);
  if (done) {
    times.last[0] = first;
    mine[0] = first_mine;
  }
  for (int tries = 0; done < repetitions; ++tries) {
    if (tries > 3 * repetitions + 10) fail(text, "ranks cannot agree on a time to start");
    times.last[done] = execute(w, computing, tests, &mine[done]);
    if (times.last[done] >= 0) ++done;
  }
  MPI_Gather(mine, repetitions, MPI_DOUBLE, all, repetitions, MPI_DOUBLE, 0, comm);
  double* column = allocate((size_t)size * sizeof(double));
  for (int i = 0; rank == 0 && i < repetitions; ++i) {
    for (int r = 0; r < size; ++r) column[r] = all[r * repetitions + i];
    times.middle[i] = median(column, size);
    times.first[i] = column[0]; /* the median has sorted them */
  }
  free(column);
  free(all);
  free(mine);
  return times;
}

static void measure(const char* text, Work* w, int repetitions, int tests) {
  set_clocks();
  agree();
  double first_mine, first = -1;
  for (int tries = 0; first < 0; ++tries) {
    if (tries > 10) fail(text, "ranks cannot agree on a time to start");
    first = execute(w, 0, 0, &first_mine);
  }
  check(text, w);
  agree();
  const int counts = first > LONG;
  Times alone = repeat(text, w, repetitions, counts, first, first_mine, 0, 0);
  if (rank == 0) {
    printf("{\"task\":\"%s\",\"ranks\":%d", text, size);
    print_list("seconds", alone.last, repetitions);
    print_list("medians", alone.middle, repetitions);
    print_list("firsts", alone.first, repetitions);
  }
  if (w->nonblocking) {
    const double computing = median(alone.last, repetitions);
    Times both = repeat(text, w, repetitions, 0, 0, 0, computing, tests);
    if (rank == 0) {
      printf(",\"computing\":%.9g", computing);
      print_list("overlapped", both.last, repetitions);
    }
    forget(both);
  }
  if (rank == 0) {
    printf("}\n");
    fflush(stdout);
  }
  forget(alone);
}

/* -- tasks ------------------------------------------------------------------------------------- */

/* This rank's place when the clusters' ranks are taken in turn. */
static int turn(const char* text, int world_rank, int world_size) {
  int total = 0, first = 0, cluster = 0;
  for (int i = 0; i < block_count; ++i) total += blocks[i];
  if (total != world_size) fail(text, "needs blocks=N,N... that add up to all ranks");
  while (world_rank >= first + blocks[cluster]) first += blocks[cluster++];
  return (world_rank - first) * block_count + cluster;
}

static const Collective* find(const char* name, int* nonblocking) {
  for (int i = 0; i < 2; ++i) {
    *nonblocking = i;
    for (size_t k = 0; k < sizeof COLLECTIVES / sizeof *COLLECTIVES; ++k)
      if ((i == 0 || name[0] == 'i') && strcmp(COLLECTIVES[k].name, name + i) == 0)
        return &COLLECTIVES[k];
  }
  return NULL;
}

static void run(const char* text) {
  char name[32], order[16] = "", rest;
  long long bytes = -1;
  int repetitions = 0, tests = 0, world_rank, world_size, nonblocking;
  const char* colon = strchr(text, ':');
  sscanf(text, "%31[a-z_]@%15[a-z]", name, order);
  const int n = colon ? sscanf(colon, ":%lld:%d:%d%c", &bytes, &repetitions, &tests, &rest) : 0;
  const Collective* what = find(name, &nonblocking);
  if (!what || n < 2 || n > 3 || bytes < 0 || bytes > 1 << 30 || repetitions < 1 ||
      repetitions > 1000000 || tests < 0 || (n == 3 && !nonblocking) ||
      (order[0] && strcmp(order, "interleaved") != 0))
    fail(text, "is not a task");
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const int key = order[0] ? turn(text, world_rank, world_size) : world_rank;
  MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Work work = prepare(text, what, nonblocking, bytes);
  measure(text, &work, repetitions, tests);
  release(&work);
  MPI_Comm_free(&comm);
}

static int read_blocks(const char* text) {
  if (strncmp(text, "blocks=", 7) != 0) return 0;
  char* at = (char*)text + 6;
  while (block_count < MOST_BLOCKS && (*at == '=' || *at == ','))
    blocks[block_count++] = (int)strtol(at + 1, &at, 10);
  if (*at) fail(text, "is not a list of sizes");
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i)
    if (!read_blocks(argv[i])) run(argv[i]);
  MPI_Finalize();
  return 0;
}
