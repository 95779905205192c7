/* A file that clusters share whose processors differ. Native data in it is as its home's processors
   hold it, whoever wrote it. */
#include <unistd.h>

#include "kinds.h"

static char out[ROOM * 4], in[ROOM * 4];

static const char* fresh_name(void) {
  static char name[300];
  const char* const folder = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(name, sizeof name, "%s/isthmus-kinds-%ld", folder ? folder : "/tmp", (long)getpid());
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, WORLD);
  return name;
}

/* Another rank of the home reads the bytes that it would have written itself. */
static void as_in_the_home(const char* name, const char* home, int first, int share) {
  const int differ = orders_differ();
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", share ? "true" : "false");
  MPI_Info_set(info, "isthmus_home", home);
  CHECK(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS,
        "the file cannot be opened");
  MPI_Info_free(&info);
  for (int i = 0; i < number_of_kinds; ++i) {
    const struct kind* const k = &kinds[i];
    if (differ && is_long_double_int(k)) continue;
    int bytes;
    MPI_Type_size(k->type, &bytes);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    fill_kind(k, out, BLOCK, rank);
    MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK * bytes, out, BLOCK, k->type,
                          MPI_STATUS_IGNORE);
    check_kind(k, out, BLOCK, rank, "a buffer that was written");
    MPI_File_sync(file);
    MPI_Barrier(WORLD);
    MPI_File_sync(file);
    for (int r = 0; r < size; ++r) {
      clear(in, sizeof in);
      MPI_File_read_at(file, (MPI_Offset)r * BLOCK * bytes, in, BLOCK, k->type, MPI_STATUS_IGNORE);
      check_kind(k, in, BLOCK, r, "what a file brings");
    }
    if (rank == first && k->parts == 1) {
      for (int r = 0; r < size; ++r) {
        clear(in, sizeof in);
        MPI_File_read_at(file, (MPI_Offset)r * BLOCK * bytes, in, BLOCK * bytes, MPI_BYTE,
                         MPI_STATUS_IGNORE);
        check_kind(k, in, BLOCK, r, "the bytes in a file");
      }
    }
    MPI_Barrier(WORLD);
  }
  MPI_File_close(&file);
  if (rank == first) MPI_File_delete(name, MPI_INFO_NULL);
  MPI_Barrier(WORLD);
}

int main(int argc, char** argv) {
  start_kinds(argc, argv);
  make_kinds();
  static char homes[4][64];
  const char* const mine = getenv("ISTHMUS_CLUSTER");
  snprintf(homes[rank], sizeof homes[rank], "%s", mine == NULL ? "" : mine);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, homes, 64, MPI_CHAR, WORLD);
  for (int share = 0; share < 2; ++share) {
    as_in_the_home(fresh_name(), homes[0], 0, share);
    as_in_the_home(fresh_name(), homes[2], 2, share);
  }
  free_kinds();
  return finish("files");
}
