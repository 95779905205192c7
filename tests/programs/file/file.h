/* Shared by the programs about files. */
#ifndef FILE_H
#define FILE_H

#define CHECKING() fprintf(stderr, "%s: ", at)
static const char* at = "";
#include <string.h>
#include <unistd.h>

#include "../checking.h"

static int rank, size;

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* A name that no other run has; the same on all ranks. */
static inline const char* fresh_name(const char* what) {
  static char name[256];
  const char* folder = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(name, sizeof name, "%s/isthmus-%s-%ld", folder ? folder : "/tmp", what,
             (long)getpid());
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  return name;
}

/* Clusters look whether they see the file, or all ask the home cluster. */
static inline MPI_Info hints(int share) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", share ? "true" : "false");
  return info;
}

#define OK(call)                                                        \
  do {                                                                  \
    int code_ = (call);                                                 \
    char text_[MPI_MAX_ERROR_STRING] = "";                              \
    int length_;                                                        \
    if (code_ != MPI_SUCCESS) MPI_Error_string(code_, text_, &length_); \
    CHECK(code_ == MPI_SUCCESS, "%s: %s", #call, text_);                \
  } while (0)

static inline void check_count(MPI_Status* status, MPI_Datatype type, int expected,
                               const char* what) {
  int count = -7;
  MPI_Get_count(status, type, &count);
  CHECK(count == expected, "%s: %d elements, not %d", what, count, expected);
}

static inline int finish(const char* what) {
  MPI_Finalize();
  if (rank == 0) printf("%s: ok\n", what);
  return 0;
}

#endif
