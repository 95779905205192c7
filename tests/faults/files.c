/* files FILE [MODE]: all ranks write 1 MiB each into a file and read it back. Each says what class
 * of error every call gives, and the sentence.
 *   kill    rank 0 is killed when the file is open
 *   writer  the last rank is killed while it writes
 *   stream  they write 16 KiB at a time; the first error is told
 *   remove  rank 0 removes the file when it is open
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void tell(const char* call, int code) {
  static const struct {
    int class;
    const char* name;
  } names[] = {
      {MPI_SUCCESS, "success"},         {MPI_ERR_NO_SPACE, "NO_SPACE"},
      {MPI_ERR_READ_ONLY, "READ_ONLY"}, {MPI_ERR_NO_SUCH_FILE, "NO_SUCH_FILE"},
      {MPI_ERR_BAD_FILE, "BAD_FILE"},   {MPI_ERR_ACCESS, "ACCESS"},
      {MPI_ERR_QUOTA, "QUOTA"},
  };
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
  }
  const char* name = "another";
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].class == class) name = names[i].name;
  printf("%s: rank %d: %s: %s\n", call, rank, name, text);
  fflush(stdout);
}

/* In pieces of `each` bytes. */
static int write_mine(MPI_File file, const char* data, int bytes, int each, int killed) {
  int first = MPI_SUCCESS;
  for (int at = 0; at < bytes; at += each) {
    if (killed && at >= bytes / 2) raise(SIGKILL);
    const int code = MPI_File_write_at(file, (MPI_Offset)rank * bytes + at, data + at, each,
                                       MPI_BYTE, MPI_STATUS_IGNORE);
    if (first == MPI_SUCCESS) first = code;
  }
  return first;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { kBytes = 1 << 20 };
  char* const data = malloc(kBytes);
  memset(data, 'a' + rank, kBytes);
  MPI_File file;
  int code =
      MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  tell("open", code);
  if (code == MPI_SUCCESS) {
    const char* const mode = argc > 2 ? argv[2] : "";
    if (strcmp(mode, "kill") == 0 && rank == 0) raise(SIGKILL);
    if (strcmp(mode, "remove") == 0 && rank == 0) remove(argv[1]);
    const int killed = strcmp(mode, "writer") == 0 && rank == size - 1;
    if (killed || strcmp(mode, "stream") == 0) {
      tell("write", write_mine(file, data, kBytes, 1 << 14, killed));
    } else {
      tell("write", MPI_File_write_at_all(file, (MPI_Offset)rank * kBytes, data, kBytes, MPI_BYTE,
                                          MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tell("sync", MPI_File_sync(file));
    int same = -1;
    MPI_Status status;
    memset(data, 0, kBytes);
    code = MPI_File_read_at(file, (MPI_Offset)rank * kBytes, data, kBytes, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &same);
    while (same > 0 && data[same - 1] == 'a' + rank) --same;
    tell(same == 0 ? "read" : "read others'", code);
    tell("close", MPI_File_close(&file));
  }
  MPI_Finalize();
  return 0;
}
