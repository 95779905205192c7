/* A cluster fails while windows over all clusters are in use. windows CASE [MICROSECONDS]
 * All cases run, CASE first. Without a time, the victim fails before it. If there is a time, the
 * victim takes part in all, and fails after it. All calls end, accesses to failed ranks raise
 * errors that name the cluster, and the accesses of others arrive. */
#include "survivors.h"

enum { MANY = 1 << 20 };

static MPI_Group others;
static int* large;

static void expect_loss(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int length, class = MPI_SUCCESS;
  if (code == MPI_SUCCESS) {
    CHECK(takes_part, "%s has succeeded", what);
    return;
  }
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  CHECK(class == ISTHMUS_ERR_PROC_FAILED && strstr(text, kVictim), "%s: %s", what, text);
}
static void meet(void) {
  if (alive != MPI_COMM_NULL) MPI_Barrier(alive);
}
static MPI_Win window_of(int ints, int** memory) {
  MPI_Win made;
  MPI_Win_allocate((MPI_Aint)ints * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, memory, &made);
  memset(*memory, 0, (size_t)ints * sizeof(int));
  MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}
static void free_it(MPI_Win* window) {
  expect_well(MPI_Win_free(window), "MPI_Win_free");
  CHECK(*window == MPI_WIN_NULL, "the window is not freed");
}

static MPI_Win fenced, posted, locked, locked_all, single, freed, dynamic, big;
static int *at_fence, *at_post, *at_lock, *at_lock_all, *at_single, *at_freed, *at_big;
static MPI_Aint places[MOST];
static int attached[MOST];

static void set_up(void) {
  fenced = window_of(size, &at_fence);
  posted = window_of(size, &at_post);
  locked = window_of(1, &at_lock);
  locked_all = window_of(2, &at_lock_all);
  single = window_of(1, &at_single);
  freed = window_of(1, &at_freed);
  big = window_of(MANY, &at_big);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
  MPI_Win_attach(dynamic, attached, sizeof attached);
  MPI_Get_address(attached, &places[rank]);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_fence(0, fenced);
  /* The victim holds this lock. */
  if (rank == victim) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first_alive, 0, locked);
    MPI_Win_flush(first_alive, locked);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void puts_to_all(MPI_Win window) {
  for (int r = 0; r < size; ++r) {
    const int code = MPI_Put(&rank, 1, MPI_INT, r, rank, 1, MPI_INT, window);
    if (dead[r]) {
      if (code != MPI_SUCCESS) expect_loss(code, "MPI_Put");
    } else {
      expect_well(code, "MPI_Put");
    }
  }
}
static void check_puts(const int* memory, const char* what) {
  for (int r = 0; r < size; ++r) {
    CHECK(dead[r] || memory[r] == r, "%s: %d of rank %d", what, memory[r], r);
  }
}

static void fence(void) {
  puts_to_all(fenced);
  expect_loss(MPI_Win_fence(0, fenced), "MPI_Win_fence");
  meet();
  if (!dead[rank]) check_puts(at_fence, "fence");
  free_it(&fenced);
}
static void post(void) {
  MPI_Win_post(others, 0, posted);
  MPI_Win_start(others, 0, posted);
  for (int r = 0; r < size; ++r) {
    if (r != rank) MPI_Put(&rank, 1, MPI_INT, r, rank, 1, MPI_INT, posted);
  }
  expect_loss(MPI_Win_complete(posted), "MPI_Win_complete");
  expect_loss(MPI_Win_wait(posted), "MPI_Win_wait");
  at_post[rank] = rank;
  if (!dead[rank]) check_puts(at_post, "post");
  free_it(&posted);
}
static void post_test(void) {
  int done = 0, code = MPI_SUCCESS, *memory;
  static MPI_Win window = MPI_WIN_NULL;
  if (window == MPI_WIN_NULL) {
    window = window_of(1, &memory);
    return;
  }
  MPI_Win_post(others, 0, window);
  MPI_Win_start(others, 0, window);
  expect_loss(MPI_Win_complete(window), "MPI_Win_complete");
  while (code == MPI_SUCCESS && !done) code = MPI_Win_test(window, &done);
  expect_loss(code, "MPI_Win_test");
  free_it(&window);
}
static void lock(void) {
  int value = 0;
  if (rank == victim) MPI_Win_unlock(first_alive, locked);
  expect_well(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first_alive, 0, locked), "MPI_Win_lock");
  expect_well(MPI_Get(&value, 1, MPI_INT, first_alive, 0, 1, MPI_INT, locked), "MPI_Get");
  expect_well(MPI_Win_flush(first_alive, locked), "MPI_Win_flush");
  ++value;
  if (!dead[rank]) MPI_Put(&value, 1, MPI_INT, first_alive, 0, 1, MPI_INT, locked);
  expect_well(MPI_Win_unlock(first_alive, locked), "MPI_Win_unlock");
  meet();
  if (rank == first_alive) CHECK(*at_lock == living, "%d of %d have had it", *at_lock, living);
  free_it(&locked);
}
static void lock_dead(void) {
  int value = rank, code = MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, single);
  if (code == MPI_SUCCESS) {
    code = MPI_Put(&value, 1, MPI_INT, victim, 0, 1, MPI_INT, single);
    if (code != MPI_SUCCESS) expect_loss(code, "MPI_Put");
    code = MPI_Win_flush(victim, single);
    if (code != MPI_SUCCESS) expect_loss(code, "MPI_Win_flush");
    code = MPI_Win_unlock(victim, single);
  }
  expect_loss(code, "access by a lock");
  free_it(&single);
}
static void lock_all(void) {
  const int one = 1;
  int before, code, sum;
  expect_well(MPI_Win_lock_all(0, locked_all), "MPI_Win_lock_all");
  for (int round = 0; round < 20; ++round) {
    for (int r = 0; r < size; ++r) {
      code = MPI_Accumulate(&one, 1, MPI_INT, r, 0, 1, MPI_INT, MPI_SUM, locked_all);
      if (!dead[r]) expect_well(code, "MPI_Accumulate");
      if (dead[r]) continue;
      expect_well(MPI_Fetch_and_op(&one, &before, MPI_INT, r, 1, MPI_SUM, locked_all), "fetch");
      expect_well(MPI_Win_flush(r, locked_all), "MPI_Win_flush");
    }
    code = MPI_Win_flush_all(locked_all);
    if (code != MPI_SUCCESS) expect_loss(code, "MPI_Win_flush_all");
  }
  code = MPI_Win_unlock_all(locked_all);
  if (code != MPI_SUCCESS) expect_loss(code, "MPI_Win_unlock_all");
  meet();
  sum = at_lock_all[1];
  if (!dead[rank]) {
    CHECK(takes_part ? sum >= 20 * living : sum == 20 * living, "%d instead of %d", sum,
          20 * living);
    CHECK(at_lock_all[0] >= 20 * living, "%d of accumulates", at_lock_all[0]);
  }
  free_it(&locked_all);
}
static void large_data(void) {
  MPI_Request request;
  int code;
  MPI_Win_lock_all(0, big);
  code = MPI_Put(large, MANY, MPI_INT, victim, 0, MANY, MPI_INT, big);
  if (code == MPI_SUCCESS)
    code = MPI_Accumulate(large, MANY, MPI_INT, victim, 0, MANY, MPI_INT, MPI_SUM, big);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(victim, big);
  expect_loss(code, "a large put");
  code = MPI_Rget(large, MANY, MPI_INT, victim, 0, MANY, MPI_INT, big, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_loss(code, "a large get");
  expect_well(MPI_Put(large, MANY, MPI_INT, first_alive, 0, MANY, MPI_INT, big), "a large put");
  code = MPI_Win_unlock_all(big);
  if (code != MPI_SUCCESS) expect_loss(code, "MPI_Win_unlock_all");
  free_it(&big);
}
static void just_free(void) { free_it(&freed); }
static void dynamic_memory(void) {
  MPI_Win_lock_all(MPI_MODE_NOCHECK, dynamic);
  for (int r = 0; r < size; ++r) {
    const MPI_Aint place = MPI_Aint_add(places[r], (MPI_Aint)sizeof(int) * rank);
    const int code = MPI_Put(&rank, 1, MPI_INT, r, place, 1, MPI_INT, dynamic);
    if (!dead[r]) expect_well(code, "MPI_Put");
  }
  const int code = MPI_Win_unlock_all(dynamic);
  if (code != MPI_SUCCESS) expect_loss(code, "MPI_Win_unlock_all");
  meet();
  if (!dead[rank]) check_puts(attached, "dynamic");
  expect_well(MPI_Win_detach(dynamic, attached), "MPI_Win_detach");
  free_it(&dynamic);
}
/* They are made by all that live, or by none. */
static void create(void) {
  static int memory[2];
  MPI_Win window = MPI_WIN_NULL;
  for (int way = 0; way < 3; ++way) {
    int *given, code, made;
    if (way == 0) {
      code = MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &window);
    } else if (way == 1) {
      code = MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &window);
    } else {
      code = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    expect_loss(code, "a new window");
    made = of_all(code == MPI_SUCCESS);
    if (!dead[rank]) CHECK(made == 0 || made == living, "%d of %d have it", made, living);
    if (code != MPI_SUCCESS) continue;
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    free_it(&window);
  }
}

static const struct Case cases[] = {
    {"fence", fence},
    {"post", post},
    {"post_test", post_test},
    {"lock", lock},
    {"lock_dead", lock_dead},
    {"lock_all", lock_all},
    {"large_data", large_data},
    {"just_free", just_free},
    {"dynamic", dynamic_memory},
    {"create", create},
};

int main(int argc, char** argv) {
  int members[MOST], number = 0;
  MPI_Group all;
  begin(argc, argv);
  for (int r = 0; r < size; ++r) {
    if (r != rank) members[number++] = r;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, number, members, &others);
  large = calloc(MANY, sizeof *large);
  set_up();
  post_test();
  run_all(cases, sizeof cases / sizeof *cases, argv);
  return end();
}
