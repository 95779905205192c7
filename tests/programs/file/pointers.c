/* Pointers of one process and of all, ordered, split and non-blocking accesses, seeks.
   ranks: 2 3 4 */
#include "file.h"

static MPI_File opened(const char* name, int amode, int share) {
  MPI_Info info = hints(share);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, amode, info, &file));
  MPI_Info_free(&info);
  return file;
}

static void shared(MPI_File file) {
  at = "shared";
  enum { kTimes = 20 };
  MPI_Status status;
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int k = 0; k < kTimes; ++k) {
    const int value[2] = {rank * kTimes + k, -1 - (rank * kTimes + k)};
    if (k % 2) {
      MPI_Request request;
      OK(MPI_File_iwrite_shared(file, value, 2, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
    } else {
      OK(MPI_File_write_shared(file, value, 2, MPI_INT, &status));
    }
    check_count(&status, MPI_INT, 2, "written");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset position;
  OK(MPI_File_get_position_shared(file, &position));
  CHECK(position == 2 * kTimes * size, "at %lld", (long long)position);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, -2 * kTimes * size, MPI_SEEK_CUR));
  int* seen = calloc((size_t)(kTimes * size), sizeof(int));
  for (int k = 0; k < kTimes; ++k) {
    int value[2];
    OK(MPI_File_read_shared(file, value, 2, MPI_INT, &status));
    CHECK(value[0] == -1 - value[1] && value[0] >= 0 && value[0] < kTimes * size, "torn: %d %d",
          value[0], value[1]);
    ++seen[value[0]];
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, kTimes * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < kTimes * size; ++k) CHECK(seen[k] == 1, "%d seen %d times", k, seen[k]);
  free(seen);
}

static void ordered(MPI_File file) {
  at = "ordered";
  enum { kMost = 40 }; /* ranks: what they write ends before 4096, where another part begins */
  int mine[kMost], back[kMost];
  CHECK(size < kMost, "made for fewer than %d ranks", kMost);
  MPI_Status status;
  for (int i = 0; i < kMost; ++i) mine[i] = rank * kMost + i;
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 5, MPI_SEEK_SET));
  OK(MPI_File_write_ordered(file, mine, rank + 1, MPI_INT, &status));
  OK(MPI_File_write_ordered_begin(file, mine, 2, MPI_INT));
  OK(MPI_File_write_ordered_end(file, mine, &status));
  check_count(&status, MPI_INT, 2, "written");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset place = 5;
  for (int r = 0; r < size; ++r) {
    OK(MPI_File_read_at(file, place, back, r + 1, MPI_INT, &status));
    for (int i = 0; i <= r; ++i) CHECK(back[i] == r * kMost + i, "of rank %d: %d", r, back[i]);
    place += r + 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 5, MPI_SEEK_SET));
  OK(MPI_File_read_ordered(file, back, rank + 1, MPI_INT, &status));
  for (int i = 0; i <= rank; ++i) CHECK(back[i] == mine[i], "back: %d", back[i]);
}

static void individual(MPI_File file) {
  at = "individual";
  int mine[8], back[8];
  MPI_Status status;
  MPI_Request requests[2];
  for (int i = 0; i < 8; ++i) mine[i] = rank * 10 + i;
  OK(MPI_File_set_view(file, 4096 + rank * 32, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_iwrite(file, mine, 4, MPI_INT, &requests[0]));
  OK(MPI_File_iwrite(file, mine + 4, 4, MPI_INT, &requests[1]));
  MPI_Offset position, byte;
  OK(MPI_File_get_position(file, &position));
  CHECK(position == 8, "at %lld", (long long)position);
  OK(MPI_File_get_byte_offset(file, 3, &byte));
  CHECK(byte == 4096 + rank * 32 + 12, "byte %lld", (long long)byte);
  MPI_Status both[2];
  OK(MPI_Waitall(2, requests, both));
  OK(MPI_File_seek(file, -6, MPI_SEEK_CUR));
  OK(MPI_File_iread(file, back, 3, MPI_INT, &requests[0]));
  OK(MPI_File_iread_at(file, 5, back + 3, 3, MPI_INT, &requests[1]));
  int done = 0;
  while (!done) OK(MPI_Testall(2, requests, &done, both));
  CHECK(memcmp(back, mine + 2, 6 * sizeof(int)) == 0, "read %d ...", back[0]);

  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &position));
  CHECK(position == 8 * (size - rank), "the end is at %lld", (long long)position);
  OK(MPI_File_read(file, back, 3, MPI_INT, &status));
  check_count(&status, MPI_INT, 0, "behind the end");
  OK(MPI_File_seek(file, -2, MPI_SEEK_END));
  OK(MPI_File_read(file, back, 8, MPI_INT, &status));
  check_count(&status, MPI_INT, 2, "at the end");
  OK(MPI_File_get_position(file, &position));
  CHECK(position == 8 * (size - rank), "after the end at %lld", (long long)position);

  OK(MPI_File_read_at_all_begin(file, 0, back, 8, MPI_INT));
  CHECK(MPI_File_read_all_end(file, back, &status) != MPI_SUCCESS, "the wrong end ended it");
  OK(MPI_File_read_at_all_end(file, back, &status));
  CHECK(memcmp(back, mine, sizeof mine) == 0, "read %d ...", back[0]);
#if MPI_VERSION > 3 || MPI_SUBVERSION >= 1
  OK(MPI_File_iread_at_all(file, 0, back, 8, MPI_INT, &requests[0]));
  OK(MPI_Wait(&requests[0], &status));
  check_count(&status, MPI_INT, 8, "read");
#endif
}

/* The longest name that the system allows: the name of the file with the pointer must not be
   longer. */
static void long_name(int share) {
  enum { kMost = 255 };
  const char* const name = fresh_name("pointers-");
  const size_t folder = (size_t)(strrchr(name, '/') + 1 - name);
  char longest[256 + kMost + 1];
  snprintf(longest, sizeof longest, "%s", name);
  memset(longest + strlen(name), 'x', folder + kMost - strlen(name));
  longest[folder + kMost] = 0;
  MPI_File file =
      opened(longest, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, share);
  shared(file);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (spans_clusters(MPI_COMM_WORLD)) {
    for (int share = 0; share < 2; ++share) {
      const char* name = fresh_name("pointers");
      MPI_File file =
          opened(name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, share);
      shared(file);
      ordered(file);
      individual(file);
      OK(MPI_File_close(&file));
      file = opened(name, MPI_MODE_CREATE | MPI_MODE_WRONLY, share);
      int value = 7;
      OK(MPI_File_write_at(file, 100 + rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
      OK(MPI_File_close(&file));
      file = opened(name, MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE, share);
      MPI_Offset position;
      OK(MPI_File_get_position(file, &position));
      CHECK(position == 100 + size * 4, "appends at %lld", (long long)position);
      OK(MPI_File_close(&file));
      long_name(share);
    }
  }
  return finish("pointers");
}
