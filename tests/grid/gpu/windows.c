/* Windows in the memory of a device. Every rank is the target of one other: a rank of the other
 * cluster, of its own, or itself. */
#include <mpi.h>
#include <string.h>

#include "checks.h"

enum { LONG = 100000, APART = 10, ROWS = 500 };
static int target, origin;

static void* some(int device, int count, int first) {
  if (device) return on_device(count, first);
  int* const host = malloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; ++i) host[i] = first + i;
  return host;
}
static void expect_at(int device, const int* numbers, int at, int value) {
  device ? expect(numbers, at, value) : differs(at, numbers[at], value);
}

/* ---- epochs ---- */

enum epoch { FENCE, START, LOCK, LOCK_ALL, REQUESTS, EPOCHS };
static const char* const names[] = {"fence", "start", "lock", "lock_all", "requests"};
static enum epoch epoch;

/* My own window has been checked by now. */
static void begin(MPI_Win win) {
  MPI_Group all, to, from;
  MPI_Barrier(MPI_COMM_WORLD);
  if (epoch == FENCE) MPI_Win_fence(0, win);
  if (epoch == START) {
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &target, &to);
    MPI_Group_incl(all, 1, &origin, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
  }
  if (epoch == LOCK) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  if (epoch == LOCK_ALL || epoch == REQUESTS) MPI_Win_lock_all(0, win);
}
static void end(MPI_Win win) {
  if (epoch == FENCE) MPI_Win_fence(0, win);
  if (epoch == START) MPI_Win_complete(win), MPI_Win_wait(win);
  if (epoch == LOCK) MPI_Win_unlock(target, win);
  if (epoch == LOCK_ALL) MPI_Win_flush(target, win);
  if (epoch == REQUESTS) MPI_Win_flush_all(win);
  if (epoch == LOCK_ALL || epoch == REQUESTS) MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- operations ---- */

#define OPERATE(plain, requesting, ...)             \
  do {                                              \
    begin(win);                                     \
    if (epoch != REQUESTS) {                        \
      MPI_##plain(__VA_ARGS__, win);                \
    } else {                                        \
      MPI_Request request;                          \
      MPI_##requesting(__VA_ARGS__, win, &request); \
      MPI_Wait(&request, MPI_STATUS_IGNORE);        \
    }                                               \
    end(win);                                       \
  } while (0)

static void put(const int* from, int count, MPI_Datatype type, MPI_Aint at, MPI_Win win) {
  OPERATE(Put, Rput, from, count, type, target, at, count, type);
}
static void get(int* into, int count, MPI_Datatype type, MPI_Aint at, MPI_Win win) {
  OPERATE(Get, Rget, into, count, type, target, at, count, type);
}
static void add(const int* from, int count, MPI_Datatype type, MPI_Aint at, MPI_Win win) {
  OPERATE(Accumulate, Raccumulate, from, count, type, target, at, count, type, MPI_SUM);
}
static void add_and_get(const int* from, int* before, int count, MPI_Datatype type, MPI_Aint at,
                        MPI_Win win) {
  OPERATE(Get_accumulate, Rget_accumulate, from, count, type, before, count, type, target, at,
          count, type, MPI_SUM);
}

/* ---- checks. `there`: my window is on the device; `here`: so is the other data ---- */

static void rows(int there, int here, int count, MPI_Aint base, int* mine, MPI_Win win) {
  doing = "elements in a row";
  int* const data = some(here, count, 50 * rank);
  int* const back = some(here, count, -1000000);
  put(data, count, MPI_INT, base, win);
  expect_at(there, mine, 0, 50 * origin);
  expect_at(there, mine, count - 1, 50 * origin + count - 1);
  get(back, count, MPI_INT, base, win);
  expect_at(here, back, 0, 50 * rank);
  expect_at(here, back, count - 1, 50 * rank + count - 1);
  add(data, count, MPI_INT, base, win);
  expect_at(there, mine, count - 1, 2 * (50 * origin + count - 1));
  add_and_get(data, back, count, MPI_INT, base, win);
  expect_at(here, back, count - 1, 2 * (50 * rank + count - 1));
  expect_at(there, mine, count / 2, 3 * (50 * origin + count / 2));
}

static void gaps(int there, int here, MPI_Aint base, int* mine, MPI_Win win) {
  doing = "elements with gaps";
  MPI_Datatype rows;
  MPI_Type_vector(ROWS, 3, APART, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  int* const data = some(here, ROWS * APART, 50 * rank);
  int* const back = some(here, ROWS * APART, -1000000);
  expect_at(there, mine, 3, 7000 * rank + 3);
  put(data, 1, rows, base, win);
  get(back, 1, rows, base, win);
  add(data, 1, rows, base, win);
  for (int i = 0; i < ROWS * APART - 7; i += 1 + i / 50) {
    expect_at(there, mine, i, i % APART < 3 ? 2 * (50 * origin + i) : 7000 * rank + i);
    expect_at(here, back, i, i % APART < 3 ? 50 * rank + i : -1000000 + i);
  }
  add_and_get(data, back, 1, rows, base, win);
  expect_at(here, back, 12, 2 * (50 * rank + 12));
  expect_at(there, mine, 12, 3 * (50 * origin + 12));
  MPI_Type_free(&rows);
}

static void single(int there, int here, MPI_Aint base, int* mine, MPI_Win win) {
  doing = "fetch_and_op, compare_and_swap";
  int* const one = some(here, 1, 1);
  int* const two = some(here, 1, 2);
  int* const nine = some(here, 1, 9);
  int* const before = some(here, 1, -1);
  int* const failed = some(here, 1, -1);
  put(one, 1, MPI_INT, base, win);
  begin(win);
  MPI_Fetch_and_op(one, before, MPI_INT, target, base, MPI_SUM, win);
  end(win);
  expect_at(here, before, 0, 1);
  begin(win);
  MPI_Compare_and_swap(nine, two, before, MPI_INT, target, base, win);
  end(win);
  expect_at(here, before, 0, 2);
  begin(win);
  MPI_Compare_and_swap(one, two, failed, MPI_INT, target, base, win);
  end(win);
  expect_at(here, failed, 0, 9);
  expect_at(there, mine, 0, 9);
  begin(win);
  MPI_Fetch_and_op(NULL, before, MPI_INT, target, base, MPI_NO_OP, win);
  end(win);
  expect_at(here, before, 0, 9);
}

static void pairs(MPI_Win win, int* mine) {
  doing = "values with their places";
  struct pair {
    double value;
    int place;
  } best[3] = {{1.5, 7}, {rank, 8}, {-1, 9}}, * const data = gpu_alloc(sizeof best);
  const struct pair zero[3] = {{1, 1}, {1, 1}, {1, 1}};
  gpu_write(data, best, sizeof best);
  gpu_write(mine, zero, sizeof zero);
  begin(win);
  MPI_Accumulate(data, 3, MPI_DOUBLE_INT, target, 0, 3, MPI_DOUBLE_INT, MPI_MAXLOC, win);
  end(win);
  gpu_read(best, mine, sizeof best);
  differs(0, best[0].place, 7);
  differs(1, best[1].place, origin > 1 ? 8 : 1);
  differs(2, best[2].place, 1);
}

/* All ranks count at one place. Each count is given once, so nothing is lost between them. */
static void counting(MPI_Win win, int* mine) {
  doing = "all count";
  const int one = 1, start = 0;
  int* const found = on_device(1, -1);
  int given[64] = {0}, all[64];
  if (rank == 0) gpu_write(mine, &start, sizeof start);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 8; ++i) {
    int was = -1;
    if (i % 2) {
      MPI_Fetch_and_op(&one, found, MPI_INT, 0, 0, MPI_SUM, win);
      MPI_Win_flush(0, win);
      gpu_read(&was, found, sizeof was);
    } else { /* until nobody comes between */
      for (int expected = 0;; expected = was) {
        const int next = expected + 1;
        MPI_Compare_and_swap(&next, &expected, found, MPI_INT, 0, 0, win);
        MPI_Win_flush(0, win);
        gpu_read(&was, found, sizeof was);
        if (was == expected) break;
      }
    }
    given[was]++;
  }
  MPI_Win_unlock_all(win);
  MPI_Allreduce(given, all, 8 * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 8 * size; ++i) differs(i, all[i], 1);
  if (rank == 0) expect(mine, 0, 8 * size);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void in_all_epochs(int there, MPI_Aint unit, MPI_Aint base, int* mine, MPI_Win win) {
  for (epoch = 0; epoch < EPOCHS; ++epoch) {
    for (int here = 0; here < 2; ++here) {
      rows(there, here, 10, base, mine, win);
      rows(there, here, LONG, base, mine, win);
      int* const filled = some(0, ROWS * APART, 7000 * rank);
      there ? gpu_write(mine, filled, ROWS * APART * sizeof(int))
            : (void)memcpy(mine, filled, ROWS * APART * sizeof(int));
      free(filled);
      gaps(there, here, base, mine, win);
      single(there, here, base + 40 * unit, mine + 40, win);
    }
    if (wrong) printf("rank %d: in an epoch of %s, target %d\n", rank, names[epoch], target);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) return;
  }
}

static void created(int mixed) {
  const int there = !mixed || rank % 2 == 0;
  int* const mine = some(there, LONG, 7000 * rank);
  MPI_Win win;
  MPI_Win_create(mine, LONG * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  void* base = NULL;
  int found = 0, unit = 0;
  MPI_Aint bytes = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
  if (!found || base != mine) wrong = 1;
  MPI_Win_shared_query(win, rank, &bytes, &unit, &base);
  if (base != mine || bytes != LONG * sizeof(int)) wrong = 1;
  in_all_epochs(there, 1, 0, mine, win);
  for (epoch = 0; epoch < EPOCHS && !mixed; ++epoch) pairs(win, mine);
  if (!mixed) counting(win, mine);
  MPI_Win_free(&win);
}

static void attached(void) {
  int* const first = on_device(10, 0);
  int* const mine = on_device(LONG, 7000 * rank);
  MPI_Win win;
  MPI_Aint own, base;
  MPI_Get_address(mine, &own);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, first, 10 * sizeof(int));
  MPI_Win_attach(win, mine, LONG * sizeof(int));
  MPI_Sendrecv(&own, 1, MPI_AINT, origin, 5, &base, 1, MPI_AINT, target, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  in_all_epochs(1, sizeof(int), base, mine, win);
  MPI_Win_detach(win, mine);
  MPI_Win_detach(win, first);
  MPI_Win_free(&win);
}

/* The driver fails, or the memory has been freed: the error tells whose memory, and what to do. */
static void refused(int freed) {
  int* const mine = on_device(LONG, 0);
  int* const host = some(0, LONG, 0);
  char text[MPI_MAX_ERROR_STRING], rank_of[40];
  MPI_Win win;
  MPI_Win_create(mine, LONG * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (freed) gpu_free(mine);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(rank_of, sizeof rank_of, "rank %d of the window", target);
  for (int i = 0; i < 4; ++i) {
    int class = MPI_SUCCESS, length = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    if (i < 2) MPI_Put(host, i ? LONG : 1, MPI_INT, target, 0, i ? LONG : 1, MPI_INT, win);
    if (i == 2) MPI_Get(host, LONG, MPI_INT, target, 0, LONG, MPI_INT, win);
    if (i == 3) MPI_Fetch_and_op(host, host + 1, MPI_INT, target, 0, MPI_SUM, win);
    const int code = MPI_Win_unlock(target, win);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class == MPI_ERR_BUFFER && strstr(text, "MPI_Win_unlock") && strstr(text, rank_of) &&
        strstr(text, freed ? "freed" : "an illegal memory access was encountered") &&
        strstr(text, "Keep such memory")) {
      continue;
    }
    printf("rank %d: operation %d: code %d, %s\n", rank, i, code, code ? text : "no error");
    wrong = 1;
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* const before = gpu_state();
  const int far = size / 2;
  for (int apart = 0; apart <= far; ++apart) { /* itself, neighbours, and across */
    target = (rank + apart) % size;
    origin = (rank + size - apart) % size;
    if (getenv("DRIVER_FAILS")) {
      refused(0);
    } else {
      created(0);
      created(1);
      attached();
      refused(1);
    }
  }
  return ended(before);
}
