/* Shared by the communicator programs: a check that ends the run with a message, and the proof that
   a communicator is what it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../checking.h"

static int world_rank, world_size;

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(world_size >= 2, "this program needs at least two ranks");
}

static inline int finish(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("%s: passed on %d ranks\n", name, world_size);
  MPI_Finalize();
  return 0;
}

/* The members of `comm`, in order, are the world ranks `members`; messages and reductions in it
   reach them. Collective over `comm`. */
static inline void prove(MPI_Comm comm, const int* members, int count, const char* what) {
  CHECK(comm != MPI_COMM_NULL, "%s: got MPI_COMM_NULL", what);
  int size = -1, rank = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  CHECK(size == count, "%s: size %d, expected %d", what, size, count);
  CHECK(rank >= 0 && rank < size, "%s: rank %d of %d", what, rank, size);
  CHECK(members[rank] == world_rank, "%s: rank %d should be world rank %d", what, rank,
        members[rank]);

  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int *ranks = malloc(sizeof(int) * (size_t)size), *found = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(group, size, ranks, world, found);
  for (int i = 0; i < size; ++i)
    CHECK(found[i] == members[i], "%s: member %d is world rank %d, expected %d", what, i, found[i],
          members[i]);
  MPI_Group_free(&group);
  MPI_Group_free(&world);

  int token = -1, mine = 1000 + world_rank;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Status status;
  MPI_Sendrecv(&mine, 1, MPI_INT, right, 7, &token, 1, MPI_INT, left, 7, comm, &status);
  CHECK(token == 1000 + members[left], "%s: %d came from the left, expected %d", what, token,
        1000 + members[left]);
  CHECK(status.MPI_SOURCE == left, "%s: status says source %d, expected %d", what,
        status.MPI_SOURCE, left);

  long sum = 0, expected = 0, one = world_rank + 1;
  MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
  for (int i = 0; i < size; ++i) expected += members[i] + 1;
  CHECK(sum == expected, "%s: the sum is %ld, expected %ld", what, sum, expected);
  MPI_Allgather(&world_rank, 1, MPI_INT, found, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i)
    CHECK(found[i] == members[i], "%s: allgather has %d at %d, expected %d", what, found[i], i,
          members[i]);
  free(ranks);
  free(found);
}

/* The same numbers on every rank. */
static inline unsigned draw(unsigned* state, unsigned bound) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % bound;
}

#endif
