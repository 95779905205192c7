/* Errors of files of two clusters: all ranks get the standard's error classes through the handlers
   that the standard names. needs: blocks. ranks: 2 4 */
#include "file.h"

static int called = 0;
static void handler(MPI_File* file, int* code, ...) {
  (void)file, (void)code;
  ++called;
}

#define FAILS(call, class)                                                  \
  do {                                                                      \
    const int found_ = class_of(call);                                      \
    int expected_ = MPI_SUCCESS;                                            \
    MPI_Error_class(class, &expected_);                                     \
    CHECK(found_ == expected_, "%s: class %d, not " #class, #call, found_); \
  } while (0)

static int opens(const char* name, int amode, MPI_File* file) {
  return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, file);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (!spans_clusters(MPI_COMM_WORLD)) return finish("errors");
  const char* name = fresh_name("errors");
  char below[300];
  snprintf(below, sizeof below, "%s/file", name);
  MPI_File file;
  MPI_Info info = hints(0);
  int value = 5, mode;
  MPI_Offset place;

  at = "opening";
  memset(&file, 1, sizeof file);
  FAILS(opens(name, MPI_MODE_RDONLY, &file), MPI_ERR_NO_SUCH_FILE);
  CHECK(file == MPI_FILE_NULL, "a file that could not be opened has a handle");
  FAILS(opens(name, MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  FAILS(opens(name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, &file), MPI_ERR_AMODE);
  FAILS(opens(name, MPI_MODE_RDONLY | MPI_MODE_CREATE, &file), MPI_ERR_AMODE);
  FAILS(opens(name, rank ? MPI_MODE_RDONLY : MPI_MODE_WRONLY, &file), MPI_ERR_NOT_SAME);
  FAILS(opens("/", MPI_MODE_RDWR, &file), MPI_ERR_BAD_FILE);
  MPI_Info_set(info, "isthmus_home", "atlantis");
  FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file), MPI_ERR_BAD_FILE);
  MPI_Errhandler own, before;
  MPI_File_create_errhandler(handler, &own);
  MPI_File_get_errhandler(MPI_FILE_NULL, &before);
  MPI_File_set_errhandler(MPI_FILE_NULL, own);
  FAILS(opens(name, MPI_MODE_RDONLY, &file), MPI_ERR_NO_SUCH_FILE);
  CHECK(called == 1, "the handler of MPI_FILE_NULL was called %d times", called);
  MPI_File_set_errhandler(MPI_FILE_NULL, before);

  at = "one that writes only";
  OK(opens(name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, &file));
  OK(MPI_File_get_amode(file, &mode));
  CHECK(mode == (MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL), "mode %d", mode);
  FAILS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  OK(MPI_File_write_at(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  FAILS(MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  FAILS(MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  FAILS(MPI_File_write_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  FAILS(MPI_File_set_size(file, 100 + rank), MPI_ERR_NOT_SAME);
  FAILS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  FAILS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "martian", MPI_INFO_NULL),
        MPI_ERR_UNSUPPORTED_DATAREP);
  FAILS(MPI_File_set_view(file, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MPI_Datatype backwards, nothing;
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){3, 0}, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  FAILS(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MPI_Type_free(&backwards);
  /* A process may have no part of the file; then it writes nothing. */
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  OK(MPI_File_set_view(file, 4 * rank, MPI_INT, rank ? MPI_INT : nothing, "native", MPI_INFO_NULL));
  OK(MPI_File_write_all(file, &value, rank ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE));
  if (rank == 0) {
    FAILS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  }
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Type_free(&nothing);
  /* One process's mistake keeps no other waiting. */
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, rank ? MPI_INT : MPI_SHORT, "native",
                                   MPI_INFO_NULL)) != MPI_SUCCESS,
        "a wrong view of one process went through");
  CHECK(class_of(MPI_File_write_ordered(file, &value, rank ? 1 : -1, MPI_INT, MPI_STATUS_IGNORE)) !=
            MPI_SUCCESS,
        "a wrong part of one process went through");
  FAILS(MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  called = 0;
  MPI_File_set_errhandler(file, own);
  FAILS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  CHECK(called == 2, "the file's handler was called %d times", called);
#ifndef MPI_ABI_VERSION /* whose Fortran functions are not C's business */
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file, "Fortran's number is another file's");
#endif
  OK(MPI_File_close(&file));

  at = "one that is there";
  FAILS(opens(name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL, &file), MPI_ERR_FILE_EXISTS);
  FAILS(opens(below, MPI_MODE_WRONLY | MPI_MODE_CREATE, &file), MPI_ERR_BAD_FILE);
  OK(opens(name, MPI_MODE_RDONLY, &file));
  FAILS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
  FAILS(MPI_File_set_size(file, 100), MPI_ERR_READ_ONLY);
  MPI_Group group;
  int members;
  OK(MPI_File_get_group(file, &group));
  MPI_Group_size(group, &members);
  CHECK(members == size, "%d members", members);
  MPI_Group_free(&group);
  MPI_Info used;
  char home[MPI_MAX_INFO_VAL + 1];
  int found;
  OK(MPI_File_get_info(file, &used));
  MPI_Info_get(used, "isthmus_home", MPI_MAX_INFO_VAL, home, &found);
  CHECK(found && strcmp(home, "east") == 0, "the home is %s", found ? home : "untold");
  MPI_Info_free(&used);
  OK(MPI_File_close(&file));

  at = "one of shared pointers alone";
  OK(opens(name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, &file));
  FAILS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
        MPI_ERR_UNSUPPORTED_OPERATION);
  FAILS(MPI_File_get_position(file, &place), MPI_ERR_UNSUPPORTED_OPERATION);
  OK(MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_close(&file));

  at = "a full disk";
  OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  FAILS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  MPI_Request request;
  OK(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request));
  FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  OK(MPI_File_close(&file));
  MPI_Errhandler_free(&own);
  MPI_Errhandler_free(&before);
  MPI_Info_free(&info);
  return finish("errors");
}
