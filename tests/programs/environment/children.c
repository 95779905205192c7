/* Processes that a rank starts do not inherit the variables that `isthmus run` sets for the rank.
   ranks: 2 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const hidden[] = {"ISTHMUS_SECRET", "ISTHMUS_WORLD", "libisthmus-"};

static int wrong(const char* when, const char* where) {
  fprintf(stderr, "%s: what is for the rank alone is in %s\n", when, where);
  return 1;
}

/* 1 when a stream of NUL-separated or line-separated entries holds one that should be hidden. */
static int shows(FILE* file) {
  static char text[1 << 20];
  const size_t size = fread(text, 1, sizeof text - 1, file);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == 0) text[i] = '\n';
  }
  text[size] = 0;
  for (int i = 0; i < 3; ++i) {
    if (strstr(text, hidden[i])) return 1;
  }
  return 0;
}

static int check(const char* when) {
  int errors = 0;
  extern char** environ;
  for (char** entry = environ; *entry; ++entry) {
    for (int i = 0; i < 3; ++i) {
      if (strstr(*entry, hidden[i])) errors += wrong(when, "environ");
    }
  }
  FILE* own = fopen("/proc/self/environ", "r");
  if (!own || shows(own)) errors += wrong(when, "/proc/self/environ");
  if (own) fclose(own);
  FILE* child = popen("env", "r");
  if (!child || shows(child)) errors += wrong(when, "the environment of a child");
  if (child) pclose(child);
  return errors;
}

int main(int argc, char** argv) {
  int size = 0, errors = check("before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) errors += wrong("after MPI_Init", "a world of its own");
  if (!getenv("ISTHMUS_CLUSTER")) errors += wrong("after MPI_Init", "nothing: ISTHMUS_CLUSTER");
  errors += check("after MPI_Init");
  MPI_Finalize();
  errors += check("after MPI_Finalize");
  return errors != 0;
}
