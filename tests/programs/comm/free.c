/* Communicators freed in odd orders, with messages still under way, and very many of them. */
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int n = world_size, right = (world_rank + 1) % n, left = (world_rank + n - 1) % n;
  int* members = malloc(sizeof(int) * n);
  for (int i = 0; i < n; ++i) members[i] = i;

  /* Messages and their communicator: the handle goes first. */
  enum { kMany = 8, kLength = 100000 };
  MPI_Comm comm[kMany];
  MPI_Request requests[2 * kMany];
  int *out = malloc(sizeof(int) * kLength), *in = malloc(sizeof(int) * kMany * kLength);
  for (int i = 0; i < kLength; ++i) out[i] = world_rank * kLength + i;
  for (int i = 0; i < kMany; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; i < kMany; ++i) {
    MPI_Irecv(in + i * kLength, kLength, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 0, comm[i],
              &requests[2 * i]);
    MPI_Isend(out, kLength, MPI_INT, right, 0, comm[i], &requests[2 * i + 1]);
  }
  for (int i = 0; i < kMany; ++i) MPI_Comm_free(&comm[(i * 5 + 3) % kMany]);
  MPI_Waitall(2 * kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany * kLength; ++i)
    CHECK(in[i] == left * kLength + i % kLength, "word %d is %d, expected %d", i, in[i],
          left * kLength + i % kLength);

  /* A child outlives its parents; new ones take the place of old ones. */
  MPI_Comm line = MPI_COMM_WORLD;
  for (int i = 0; i < 50; ++i) {
    MPI_Comm next;
    if (i % 3 == 2) {
      MPI_Comm_split(line, 0, world_rank, &next);
    } else {
      MPI_Comm_dup(line, &next);
    }
    if (line != MPI_COMM_WORLD) MPI_Comm_free(&line);
    line = next;
  }
  prove(line, members, n, "the last of a line");
  MPI_Comm_disconnect(&line);
  CHECK(line == MPI_COMM_NULL, "MPI_Comm_disconnect left the handle");

  /* Native context ids are few (2048 in MPICH): given more rounds than that, a leak ends the run.
   */
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, i % 3 ? 0 : world_rank % 2, 0, &made);
    int size = 0;
    MPI_Comm_size(made, &size);
    CHECK(i % 3 == 0 || size == n, "round %d: size %d, expected %d", i, size, n);
    MPI_Comm_free(&made);
  }
  prove(MPI_COMM_WORLD, members, n, "the world at the end");
  free(members), free(out), free(in);
  return finish("free");
}
