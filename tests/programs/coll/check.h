/* Shared by the programs for collectives: a check that ends the run with a message, communicators
   and datatypes to try, and the ways to run a collective. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* trying = ""; /* the communicator */
static const char* doing = "";  /* the collective */
static const char* with = "";   /* variant */
static int mode;                /* blocking, MPI_Wait, MPI_Test, persistent */
#define MODES 4

/* If a library has no persistent collectives, its ranks call the non-blocking form. Other ranks of
   the grid may have another library. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT 1
#define START(blocking, nonblocking, ...)                         \
  do {                                                            \
    MPI_##blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
    MPI_Start(&request_);                                         \
  } while (0)
#else
#define HAVE_PERSISTENT 0
#define START(blocking, nonblocking, ...) MPI_##nonblocking(__VA_ARGS__, &request_)
#endif

#define CHECKING() fprintf(stderr, "%s on %s (%s, mode %d): ", doing, trying, with, mode)
#include "../checking.h"

/* Quick operations are awaited by tests alone. Over a slow link, tests would take processors from
   other ranks. */
static inline void rest_after(int tests) {
  if (tests % 32 == 0) usleep(200);
}

/* RUN(Bcast, Ibcast, arguments...): in the current mode. */
#define RUN(blocking, nonblocking, ...)                               \
  do {                                                                \
    doing = "MPI_" #blocking;                                         \
    if (mode == 0) {                                                  \
      MPI_##blocking(__VA_ARGS__);                                    \
    } else {                                                          \
      MPI_Request request_ = MPI_REQUEST_NULL;                        \
      if (mode == 3) {                                                \
        START(blocking, nonblocking, __VA_ARGS__);                    \
      } else {                                                        \
        MPI_##nonblocking(__VA_ARGS__, &request_);                    \
      }                                                               \
      int done_ = 0;                                                  \
      for (int tests_ = 1; mode == 2 && !done_; rest_after(tests_++)) \
        MPI_Test(&request_, &done_, MPI_STATUS_IGNORE);               \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                         \
      if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);  \
    }                                                                 \
  } while (0)

/* A datatype of two ints: where they are, in ints, and its extent. */
struct kind {
  const char* name;
  int first, second, extent;
  MPI_Datatype type;
};
#define KINDS 3
static struct kind kinds[KINDS] = {{"two ints", 0, 1, 2, MPI_DATATYPE_NULL},
                                   {"ints with gaps", 0, 3, 5, MPI_DATATYPE_NULL},
                                   {"ints in reverse", 2, 0, 4, MPI_DATATYPE_NULL}};

static inline void make_kinds(void) {
  for (int k = 0; k < KINDS; ++k) {
    int places[2] = {kinds[k].first, kinds[k].second};
    MPI_Datatype pair;
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, (MPI_Aint)(kinds[k].extent * (int)sizeof(int)),
                            &kinds[k].type);
    MPI_Type_commit(&kinds[k].type);
    MPI_Type_free(&pair);
  }
}
static inline void free_kinds(void) {
  for (int k = 0; k < KINDS; ++k) MPI_Type_free(&kinds[k].type);
}

#define UNTOUCHED (-777)

/* Room for `count` elements, untouched; at least one int. */
static inline int* room(const struct kind* kind, int count) {
  const int ints = count * kind->extent + 8;
  int* buffer = malloc(sizeof(int) * (size_t)ints);
  for (int i = 0; i < ints; ++i) buffer[i] = UNTOUCHED;
  return buffer;
}

/* Element i of what `from` has for `to`. */
static inline int value(int from, int to, int i) { return from * 100003 + to * 1009 + i * 7 + 1; }

static inline void fill(int* buffer, const struct kind* kind, int at, int count, int from, int to) {
  for (int i = 0; i < count; ++i) {
    int* element = buffer + (at + i) * kind->extent;
    element[kind->first] = value(from, to, 2 * i);
    element[kind->second] = value(from, to, 2 * i + 1);
  }
}

static inline void expect(const int* buffer, const struct kind* kind, int at, int count, int from,
                          int to) {
  for (int i = 0; i < count; ++i) {
    const int* element = buffer + (at + i) * kind->extent;
    for (int j = 0; j < kind->extent; ++j) {
      const int wanted = j == kind->first    ? value(from, to, 2 * i)
                         : j == kind->second ? value(from, to, 2 * i + 1)
                                             : UNTOUCHED;
      CHECK(element[j] == wanted, "element %d from rank %d (%s) has %d at %d, expected %d", i, from,
            kind->name, element[j], j, wanted);
    }
  }
}
static inline void expect_untouched(const int* buffer, const struct kind* kind, int at, int count) {
  for (int i = at * kind->extent; i < (at + count) * kind->extent; ++i)
    CHECK(buffer[i] == UNTOUCHED, "int %d (%s) was overwritten by %d", i, kind->name, buffer[i]);
}

/* Uneven counts, empty ones among them. */
static inline int uneven(int rank, int base) { return (rank * 2 + 1) % 4 * base; }

static int rank, size; /* of the communicator that is tried */

static inline void try(MPI_Comm comm, const char* name, void (*test)(MPI_Comm)) {
  trying = name;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  test(comm);
}

/* Runs test(comm) on communicators that span clusters in every way, and on some that do not. */
static inline void on_communicators(void (*test)(MPI_Comm)) {
  try(MPI_COMM_WORLD, "MPI_COMM_WORLD", test);
  struct {
    const char* name;
    int colour, key;
  } const splits[] = {
      {"the world, backwards", 0, -rank},
      {"the world, dealt round", 0, rank % 2 * size + rank}, /* clusters interleave */
      {"ranks of one parity", rank % 2, rank},
      {"rank 0 and the last one, and the others", rank == 0 || rank == size - 1, rank},
      {"all but rank 1", rank == 1 ? MPI_UNDEFINED : 0, rank},
      {"halves", rank < (size + 1) / 2, rank},
  };
  for (size_t i = 0; i < sizeof splits / sizeof *splits; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, splits[i].colour, splits[i].key, &comm);
    if (comm == MPI_COMM_NULL) continue;
    try(comm, splits[i].name, test);
    MPI_Comm_free(&comm);
  }
}

static inline int finish(const char* name) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: passed on %d ranks\n", name, size);
  MPI_Finalize();
  return 0;
}

#endif
