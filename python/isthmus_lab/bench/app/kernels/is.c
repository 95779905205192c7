/* IS, "integer sort": ten times the ranks of all keys, which lie in no order.
 *
 * Communication, each of ten times: an allreduce of 4 KB (how many keys each of 1024 buckets has),
 * an alltoall of 4 bytes and an alltoallv of all keys, each to the rank that has its bucket: nearly
 * all bytes there are change places. Bandwidth over the wide area is everything. Any number of
 * ranks. */
#include "nas.h"

enum { TIMES = 10, LOG_BUCKETS = 10, BUCKETS = 1 << LOG_BUCKETS, PROBES = 5 };
static const int LOG_KEYS[CLASSES] = {16, 20, 23, 25};
static const int LOG_MOST_KEY[CLASSES] = {11, 16, 19, 21};
static const uint64_t SEED = 314159265;

/* Published: places in the sequence of keys, and the ranks of the keys there. These move on with
 * `time`, for each time changes two keys. */
static const int PLACES[CLASSES][PROBES] = {
    {48427, 17148, 23627, 62548, 4431},
    {357773, 934767, 875723, 898999, 404505},
    {2112377, 662041, 5336171, 3642833, 4250760},
    {41869, 812306, 5102857, 18232239, 26860214},
};
static const int RANKS[CLASSES][PROBES] = {
    {0, 18, 346, 64917, 65463},
    {1249, 11698, 1039987, 1043896, 1048018},
    {104, 17523, 123928, 8288932, 8388264},
    {33422937, 10244, 59149, 33135281, 99},
};

static int64_t published_rank(int probe, int time) {
  const int64_t base = RANKS[class_number][probe];
  switch (CLASS_NAMES[class_number]) {
    case 'S':
      return probe <= 2 ? base + time : base - time;
    case 'W':
      return probe < 2 ? base + (time - 2) : base - time;
    case 'A':
      return probe <= 2 ? base + (time - 1) : base - (time - 1);
    default:
      return probe == 1 || probe == 2 || probe == 4 ? base + time : base - time;
  }
}

static int64_t first, count; /* of this rank's keys in the sequence */
static int* keys;

static int* mine(int64_t place) {
  return place >= first && place < first + count ? &keys[place - first] : NULL;
}

static void make_keys(int most_key) {
  uint64_t state = skip(SEED, 4 * (uint64_t)first);
  for (int64_t i = 0; i < count; ++i) {
    const double a = draw(&state), b = draw(&state), c = draw(&state), d = draw(&state);
    keys[i] = (int)((double)(most_key / 4) * (a + b + c + d));
  }
}

/* The keys of a rank after the exchange: all keys of its buckets. `before` keys are smaller than
 * `least_key`, the least that its buckets may have; `upto[k - least_key]` keys of its own are at
 * most k. */
typedef struct {
  int* keys;
  int64_t room, count, before;
  int least_key, end_key;
  int* upto;
} Sorted;

static int bucket_shift;

/* Cuts the buckets into `ranks` shares of about equally many keys: the first bucket of each. */
static void cut(const int* totals, int64_t all, int* begins) {
  int64_t sum = 0;
  int next = 1;
  begins[0] = 0;
  for (int bucket = 0; bucket < BUCKETS; ++bucket) {
    sum += totals[bucket];
    while (next < ranks && sum >= all * next / ranks) begins[next++] = bucket + 1;
  }
  while (next <= ranks) begins[next++] = BUCKETS;
}

/* Sends each key to the rank that has its bucket, and counts there. `begins` has room for one more
 * than there are ranks. `totals` are those of all ranks, `own` of this one. */
static void exchange(const int* totals, const int* own, int64_t all, int* begins, int* out,
                     Sorted* sorted) {
  int *counts = need((size_t)ranks * 4, sizeof(int)), *offsets = counts + ranks;
  int *in_counts = offsets + ranks, *in_offsets = in_counts + ranks;
  int starts[BUCKETS];
  cut(totals, all, begins);
  for (int bucket = 0, sum = 0; bucket < BUCKETS; sum += own[bucket++]) starts[bucket] = sum;
  for (int to = 0; to < ranks; ++to) {
    offsets[to] = begins[to] < BUCKETS ? starts[begins[to]] : (int)count;
    for (int bucket = begins[to]; bucket < begins[to + 1]; ++bucket) counts[to] += own[bucket];
  }
  for (int64_t i = 0; i < count; ++i) out[starts[keys[i] >> bucket_shift]++] = keys[i];
  MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
  sorted->count = 0;
  for (int from = 0; from < ranks; ++from) {
    in_offsets[from] = (int)sorted->count;
    sorted->count += in_counts[from];
  }
  if (sorted->count > sorted->room) {
    free(sorted->keys);
    sorted->room = sorted->count + sorted->count / 16;
    sorted->keys = need((size_t)sorted->room, sizeof(int));
  }
  MPI_Alltoallv(out, counts, offsets, MPI_INT, sorted->keys, in_counts, in_offsets, MPI_INT,
                MPI_COMM_WORLD);
  free(counts);

  sorted->before = 0;
  for (int bucket = 0; bucket < begins[rank]; ++bucket) sorted->before += totals[bucket];
  sorted->least_key = begins[rank] << bucket_shift;
  sorted->end_key = begins[rank + 1] << bucket_shift;
  const int width = sorted->end_key - sorted->least_key;
  memset(sorted->upto, 0, (size_t)width * sizeof(int));
  for (int64_t i = 0; i < sorted->count; ++i) ++sorted->upto[sorted->keys[i] - sorted->least_key];
  for (int k = 1; k < width; ++k) sorted->upto[k] += sorted->upto[k - 1];
}

/* The number of smaller keys; -1 where another rank has this key. */
static int64_t rank_of(const Sorted* sorted, int key) {
  if (key < sorted->least_key || key >= sorted->end_key) return -1;
  const int k = key - sorted->least_key;
  return sorted->before + (k > 0 ? sorted->upto[k - 1] : 0);
}

/* Ranks all keys once; whether those of the probes are as published, as far as this rank has them.
 */
static int rank_keys(int time, int64_t all, int* begins, int* out, Sorted* sorted) {
  int own[BUCKETS + PROBES] = {0}, totals[BUCKETS + PROBES];
  for (int64_t i = 0; i < count; ++i) ++own[keys[i] >> bucket_shift];
  for (int probe = 0; probe < PROBES; ++probe) {
    const int* key = mine(PLACES[class_number][probe]);
    if (key != NULL) own[BUCKETS + probe] = *key;
  }
  MPI_Allreduce(own, totals, BUCKETS + PROBES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  exchange(totals, own, all, begins, out, sorted);
  int well = 1;
  for (int probe = 0; probe < PROBES; ++probe) {
    const int64_t found = rank_of(sorted, totals[BUCKETS + probe]);
    if (found >= 0 && found != published_rank(probe, time)) well = 0;
  }
  return well;
}

/* Whether every key has its place: each rank's are those of its own range, as many as there should
 * be before the next rank's. */
static int in_order(const Sorted* sorted, int64_t all) {
  const int64_t end = sorted->before + sorted->count;
  int64_t next = 0;
  int well = 1;
  for (int64_t i = 0; i < sorted->count; ++i)
    well &= sorted->keys[i] >= sorted->least_key && sorted->keys[i] < sorted->end_key;
  const int to = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int from = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&sorted->before, 1, MPI_INT64_T, to, 0, &next, 1, MPI_INT64_T, from, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (from == MPI_PROC_NULL) next = all;
  return well && end == next;
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "IS");
  const int64_t all = INT64_C(1) << LOG_KEYS[class_number];
  const int most_key = 1 << LOG_MOST_KEY[class_number];
  if (ranks > BUCKETS) refuse("runs on 1024 ranks at most");
  bucket_shift = LOG_MOST_KEY[class_number] - LOG_BUCKETS;
  first = share_begin(all, ranks, rank);
  count = share_begin(all, ranks, rank + 1) - first;
  keys = need((size_t)count, sizeof(int));
  int *out = need((size_t)count, sizeof(int)), *begins = need((size_t)ranks + 1, sizeof(int));
  Sorted sorted = {.upto = need((size_t)most_key, sizeof(int))};
  make_keys(most_key);

  int well = 1;
  start_clock();
  for (int time = 1; time <= TIMES; ++time) {
    int* key = mine(time);
    if (key != NULL) *key = time;
    key = mine(time + TIMES);
    if (key != NULL) *key = most_key - time;
    well &= rank_keys(time, all, begins, out, &sorted);
  }
  const double seconds = stop_clock();

  well &= in_order(&sorted, all);
  int everywhere = 0;
  MPI_Reduce(&well, &everywhere, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0 && !everywhere) fprintf(stderr, "IS: ranks of keys are not the published ones\n");
  return finish(seconds, everywhere);
}
