/* Filetypes made in every way. Data written through them lies in the file as MPI unpacks it into
   memory, and data read is as MPI packs it. ranks: 2 3 */
#include "file.h"

enum { kCount = 3, kRoom = 4096 };

static MPI_File file;

/* Frees the type. */
static void through(MPI_Datatype type, const char* what) {
  at = what;
  MPI_Type_commit(&type);
  int bytes;
  MPI_Aint lower, extent;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  CHECK(kCount * extent <= kRoom, "an extent of %ld", (long)extent);
  bytes *= kCount;
  char* data = malloc((size_t)bytes);
  char *memory = calloc(1, kRoom), *found = calloc(1, kRoom), *back = calloc(1, (size_t)bytes);
  for (int i = 0; i < bytes; ++i) data[i] = (char)(i * 13 + rank + 1);
  int position = 0;
  MPI_Unpack(data, bytes, &position, memory, kCount, type, MPI_COMM_WORLD);

  const MPI_Offset mine = (MPI_Offset)kRoom * rank;
  MPI_Status status;
  OK(MPI_File_set_view(file, mine, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at(file, 0, found, kRoom, MPI_BYTE, &status));
  OK(MPI_File_set_view(file, mine, MPI_BYTE, type, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, &status));
  check_count(&status, MPI_BYTE, bytes, "written");
  OK(MPI_File_read_at_all(file, 0, back, bytes, MPI_BYTE, &status));
  CHECK(memcmp(back, data, (size_t)bytes) == 0, "read differently");
  OK(MPI_File_read_at(file, 3, back, 2, MPI_BYTE, &status));
  CHECK(memcmp(back, data + 3, 2) == 0, "read differently from within");
  OK(MPI_File_set_view(file, mine, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 0, found, kRoom, MPI_BYTE, &status));
  for (int i = 0; i < kRoom; ++i) {
    CHECK(found[i] == memory[i], "byte %d is %d, not %d", i, found[i], memory[i]);
  }

  /* The type in memory, bytes in the file. */
  OK(MPI_File_write_at(file, 0, memory, kCount, type, &status));
  check_count(&status, type, kCount, "written from memory");
  OK(MPI_File_read_at(file, 0, back, bytes, MPI_BYTE, &status));
  CHECK(memcmp(back, data, (size_t)bytes) == 0, "written differently from memory");
  memset(found, 0, kRoom);
  OK(MPI_File_read_at(file, 0, found, kCount, type, &status));
  CHECK(memcmp(found, memory, kRoom) == 0, "read differently into memory");
  free(data), free(memory), free(found), free(back);
  MPI_Type_free(&type);
}

static void all_types(void) {
  MPI_Datatype type, inner;
  MPI_Type_contiguous(7, MPI_INT, &type);
  through(type, "contiguous");
  MPI_Type_dup(MPI_DOUBLE_INT, &type);
  through(type, "a pair with a gap");
  MPI_Type_vector(4, 2, 5, MPI_SHORT, &type);
  through(type, "a vector");
  MPI_Type_create_hvector(3, 2, 37, MPI_INT, &type);
  through(type, "an hvector");
  MPI_Type_indexed(3, (int[]){2, 1, 3}, (int[]){1, 5, 8}, MPI_INT, &type);
  through(type, "indexed");
  MPI_Type_create_hindexed(3, (int[]){2, 0, 3}, (MPI_Aint[]){3, 20, 40}, MPI_INT, &type);
  through(type, "hindexed");
  MPI_Type_create_indexed_block(3, 2, (int[]){0, 5, 9}, MPI_DOUBLE, &type);
  through(type, "indexed_block");
  MPI_Type_create_hindexed_block(3, 2, (MPI_Aint[]){1, 21, 41}, MPI_INT, &type);
  through(type, "hindexed_block");
  MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 8, 40},
                         (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &type);
  through(type, "a structure");
  MPI_Type_create_subarray(3, (int[]){4, 5, 6}, (int[]){2, 3, 2}, (int[]){1, 1, 3}, MPI_ORDER_C,
                           MPI_SHORT, &type);
  through(type, "a subarray");
  MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){3, 2}, (int[]){1, 3}, MPI_ORDER_FORTRAN,
                           MPI_INT, &type);
  through(type, "a subarray in Fortran's order");
  for (int place = 0; place < 4; ++place) {
    MPI_Type_create_darray(
        4, place, 3, (int[]){5, 7, 3},
        (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 2, 1},
        place % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_INT, &type);
    through(type, "a distributed array");
  }
  MPI_Type_vector(2, 3, 4, MPI_SHORT, &inner);
  MPI_Type_create_resized(inner, 0, 30, &type);
  MPI_Type_free(&inner);
  through(type, "a resized vector");
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){2, 9},
                         (MPI_Datatype[]){MPI_SHORT, MPI_CHAR}, &inner);
  MPI_Type_vector(3, 2, 4, inner, &type);
  MPI_Type_free(&inner);
  through(type, "a vector of structures");
  MPI_Type_create_resized(MPI_INT, 0, 12, &inner);
  MPI_Type_contiguous(5, inner, &type);
  MPI_Type_free(&inner);
  through(type, "resized elements in a row");
}

#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
#define LARGE 1
static void large_types(void) {
  MPI_Datatype type, inner;
  MPI_Type_vector_c(4, 2, 5, MPI_SHORT, &type);
  through(type, "a large vector");
  MPI_Type_create_hvector_c(3, 2, 37, MPI_INT, &type);
  through(type, "a large hvector");
  MPI_Type_indexed_c(3, (MPI_Count[]){2, 1, 3}, (MPI_Count[]){1, 5, 8}, MPI_INT, &type);
  through(type, "large, indexed");
  MPI_Type_create_hindexed_c(3, (MPI_Count[]){2, 0, 3}, (MPI_Count[]){3, 20, 40}, MPI_INT, &type);
  through(type, "large, hindexed");
  MPI_Type_create_hindexed_block_c(3, 2, (MPI_Count[]){1, 21, 41}, MPI_INT, &type);
  through(type, "large, hindexed_block");
  MPI_Type_create_struct_c(3, (MPI_Count[]){1, 2, 1}, (MPI_Count[]){0, 8, 40},
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &type);
  through(type, "a large structure");
  MPI_Type_create_subarray_c(2, (MPI_Count[]){5, 6}, (MPI_Count[]){3, 2}, (MPI_Count[]){1, 3},
                             MPI_ORDER_C, MPI_INT, &type);
  through(type, "a large subarray");
  MPI_Type_create_resized_c(MPI_INT, 0, 12, &inner);
  MPI_Type_contiguous_c(5, inner, &type);
  MPI_Type_free(&inner);
  through(type, "large, resized elements in a row");
}
#else
#define LARGE 0
static void large_types(void) {}
#endif

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int large = LARGE; /* all processes have them */
  MPI_Allreduce(MPI_IN_PLACE, &large, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (int share = 0; share < 2 && spans_clusters(MPI_COMM_WORLD); ++share) {
    MPI_Info info = hints(share);
    OK(MPI_File_open(MPI_COMM_WORLD, fresh_name("views"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    all_types();
    if (large) large_types();
    OK(MPI_File_close(&file));
  }
  return finish("views");
}
