/* An ordinary MPI program: the places of the ranks, a ring of messages, and an allreduce, each
 * checked. It knows nothing of Isthmus; the same source is built once with Open MPI and once with
 * MPICH and runs as one world. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256 };

static const char* first_set(const char* const* names) {
  for (; *names; ++names)
    if (getenv(*names)) return getenv(*names);
  return "?";
}

/* "Isthmus 0.2.0 over Open MPI v4.1.4, package: ..." -> up to the first comma or line end. */
static void describe_library(char* out, size_t size) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0';
  for (char* c = text; *c; ++c)
    if (*c == '\t') *c = ' ';
  snprintf(out, size, "%s", text);
}

static void say_who(int rank, int size) {
  static const char* const native_rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
  static const char* const cluster[] = {"ISTHMUS_CLUSTER", NULL};
  char library[128], line[LINE];
  describe_library(library, sizeof library);
  snprintf(line, sizeof line, "rank %d of %d: cluster %s, native rank %s, %s", rank, size,
           first_set(cluster), first_set(native_rank), library);
  char* all = rank == 0 ? malloc((size_t)size * LINE) : NULL;
  MPI_Gather(line, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r) puts(all + (size_t)r * LINE);
  free(all);
}

/* A token visits every rank in order; each adds its number. */
static int ring_is_right(int rank, int size) {
  int token = 0;
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  token += rank;
  MPI_Send(&token, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
  if (rank > 0) return 1;
  MPI_Recv(&token, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int expected = size * (size - 1) / 2;
  printf("ring: the token came back with %d, expected %d\n", token, expected);
  return token == expected;
}

static int allreduce_is_right(int rank, int size) {
  const double mine = 1.0 / (rank + 1);
  double sum = 0.0, expected = 0.0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) expected += 1.0 / (r + 1);
  const double error = sum > expected ? sum - expected : expected - sum;
  if (rank == 0) printf("allreduce: the sum is %.12f, expected %.12f\n", sum, expected);
  return error < 1e-12;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say_who(rank, size);
  int right = ring_is_right(rank, size) & allreduce_is_right(rank, size), all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) puts(all_right ? "all is right" : "WRONG");
  MPI_Finalize();
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
