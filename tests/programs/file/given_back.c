/* The writer unmaps its memory as soon as MPI gives it back. The file holds what the memory held.
   ranks: 2 4 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "file.h"

/* Around the sizes from which on data goes another way, and of several requests. */
static const int sizes[] = {1, 32768, 65537, 1 << 20, (1 << 20) + 1, 3 << 20};
enum { kSizes = sizeof sizes / sizeof *sizes, kMost = 3 << 20 };
enum { kWrite, kIwrite, kCollective, kSplit, kEnds };

static char* got;

static void write_once(MPI_File file, int bytes, int end) {
  char* memory =
      mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED, "no memory");
  const int value = 1 + rank + end;
  memset(memory, value, (size_t)bytes);
  const MPI_Offset mine = (MPI_Offset)rank * bytes;
  MPI_Request request;
  MPI_Status status;
  if (end == kWrite) OK(MPI_File_write_at(file, mine, memory, bytes, MPI_BYTE, &status));
  if (end == kIwrite) {
    OK(MPI_File_iwrite_at(file, mine, memory, bytes, MPI_BYTE, &request));
    MPI_Wait(&request, &status);
  }
  if (end == kCollective) {
    OK(MPI_File_write_at_all(file, mine, memory, bytes, MPI_BYTE, &status));
  }
  if (end == kSplit) {
    OK(MPI_File_write_at_all_begin(file, mine, memory, bytes, MPI_BYTE));
    OK(MPI_File_write_at_all_end(file, memory, &status));
  }
  munmap(memory, (size_t)bytes);
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  const int next = (rank + 1) % size;
  OK(MPI_File_read_at(file, (MPI_Offset)next * bytes, got, bytes, MPI_BYTE, &status));
  for (int i = 0; i < bytes; ++i) {
    CHECK(got[i] == 1 + next + end, "write %d of %d bytes: byte %d is %d", end, bytes, i, got[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  got = malloc(kMost);
  MPI_File file;
  MPI_Info info = hints(0);
  OK(MPI_File_open(MPI_COMM_WORLD, fresh_name("given-back"),
                   MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
  MPI_Info_free(&info);
  for (int i = 0; i < kSizes; ++i) {
    for (int end = 0; end < kEnds; ++end) write_once(file, sizes[i], end);
  }
  OK(MPI_File_close(&file));
  free(got);
  if (rank == 0) printf("given_back: passed\n");
  MPI_Finalize();
  return 0;
}
