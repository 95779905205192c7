/* A file of one cluster, opened by each process alone: by its name while all have it open, and by
   that name and its cluster's.
   ranks: 2 3 4 */
#include "file.h"

enum { kBlock = 1000 };

/* The cluster that Isthmus says the file is in; natively none. */
static const char* home_of(MPI_File file) {
  static char home[MPI_MAX_INFO_VAL + 1];
  MPI_Info info;
  int found = 0;
  OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "isthmus_home", MPI_MAX_INFO_VAL, home, &found);
  MPI_Info_free(&info);
  return found ? home : "";
}

static void write_mine(MPI_File file, int value) {
  int block[kBlock];
  for (int i = 0; i < kBlock; ++i) block[i] = value + i;
  MPI_Status status;
  OK(MPI_File_write_at(file, (MPI_Offset)sizeof block * rank, block, kBlock, MPI_INT, &status));
  check_count(&status, MPI_INT, kBlock, "written");
}

static void check_all(MPI_File file, int value) {
  int* const all = malloc(sizeof(int) * kBlock * (size_t)size);
  MPI_Status status;
  OK(MPI_File_read_at(file, 0, all, kBlock * size, MPI_INT, &status));
  check_count(&status, MPI_INT, kBlock * size, "read");
  for (int i = 0; i < kBlock * size; ++i) {
    CHECK(all[i] == value + i / kBlock * 10000 + i % kBlock, "%d is %d", i, all[i]);
  }
  free(all);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* const name = fresh_name("alone");
  MPI_Info info = hints(0);
  MPI_File file, mine;
  at = "while all have it open";
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &mine));
  write_mine(mine, rank * 10000);
  MPI_Offset bytes = 0;
  OK(MPI_File_get_size(mine, &bytes));
  CHECK(bytes >= (MPI_Offset)sizeof(int) * kBlock * (rank + 1), "%lld bytes", (long long)bytes);
  OK(MPI_File_close(&mine));
  MPI_Barrier(MPI_COMM_WORLD);
  check_all(file, 0);
  MPI_Barrier(MPI_COMM_WORLD);

  at = "by its cluster";
  char there[600], home[300];
  snprintf(home, sizeof home, "%s", home_of(file));
  snprintf(there, sizeof there, "%s%s%s", home, home[0] ? ":" : "", name);
  OK(MPI_File_close(&file));
  OK(MPI_File_open(MPI_COMM_SELF, there, MPI_MODE_RDWR, MPI_INFO_NULL, &mine));
  write_mine(mine, 7 + rank * 10000);
  MPI_Barrier(MPI_COMM_WORLD);
  check_all(mine, 7);
  OK(MPI_File_seek_shared(mine, 5, MPI_SEEK_SET));
  int number = 0;
  OK(MPI_File_read_shared(mine, &number, sizeof number, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&mine));
  MPI_Barrier(MPI_COMM_WORLD);

  at = "by all of a cluster";
  MPI_Comm odd_ones;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &odd_ones);
  OK(MPI_File_open(odd_ones, there, MPI_MODE_RDONLY, MPI_INFO_NULL, &mine));
  check_all(mine, 7);
  OK(MPI_File_close(&mine));
  MPI_Comm_free(&odd_ones);
  MPI_Barrier(MPI_COMM_WORLD);

  at = "what goes";
  const int spans = spans_clusters(MPI_COMM_WORLD);
  if (rank == size - 1) {
    const int modes = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
    memset(&mine, 1, sizeof mine);
    CHECK(class_of(MPI_File_open(MPI_COMM_SELF, there, modes, MPI_INFO_NULL, &mine)) ==
              MPI_ERR_FILE_EXISTS,
          "it is there");
    if (spans) CHECK(mine == MPI_FILE_NULL, "a handle of no file");
    OK(MPI_File_delete(there, MPI_INFO_NULL));
    CHECK(class_of(MPI_File_delete(there, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE, "it was there");
    OK(MPI_File_open(MPI_COMM_SELF, there, modes | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_APPEND,
                     MPI_INFO_NULL, &mine));
    OK(MPI_File_close(&mine));
    CHECK(access(name, F_OK) != 0, "it is still there");
  }
  MPI_Info_free(&info);
  return finish("alone");
}
