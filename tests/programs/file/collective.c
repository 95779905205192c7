/* One file of two clusters: written through interleaved views, read back through others.
   ranks: 2 3 4 */
#include "file.h"

enum { kBlocks = 100, kBlock = 5 };

static void once(int share, const char* representation) {
  at = representation;
  const char* name = fresh_name("collective");
  MPI_Info info = hints(share);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));

  MPI_Datatype tile, resized;
  MPI_Type_vector(kBlocks, kBlock, kBlock * size, MPI_INT, &tile);
  MPI_Type_create_resized(tile, 0, (MPI_Aint)sizeof(int) * kBlock * size * kBlocks, &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&tile);
  const MPI_Offset start = 16 + (MPI_Offset)sizeof(int) * kBlock * rank;
  OK(MPI_File_set_view(file, start, MPI_INT, resized, representation, MPI_INFO_NULL));
  int mine[kBlocks * kBlock], back[kBlocks * kBlock];
  for (int round = 0; round < 3; ++round) {
    for (int b = 0; b < kBlocks; ++b) {
      for (int i = 0; i < kBlock; ++i) {
        mine[b * kBlock + i] = ((round * kBlocks + b) * size + rank) * kBlock + i;
      }
    }
    MPI_Status status;
    OK(MPI_File_write_all(file, mine, kBlocks * kBlock, MPI_INT, &status));
    check_count(&status, MPI_INT, kBlocks * kBlock, "written");
  }
  MPI_Offset position;
  OK(MPI_File_get_position(file, &position));
  CHECK(position == 3 * kBlocks * kBlock, "at %lld", (long long)position);
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));

  /* Through the view of the next rank. */
  const int next = (rank + 1) % size;
  OK(MPI_File_set_view(file, 16 + (MPI_Offset)sizeof(int) * kBlock * next, MPI_INT, resized,
                       representation, MPI_INFO_NULL));
  MPI_Status status;
  OK(MPI_File_read_at_all(file, kBlocks * kBlock, back, kBlocks * kBlock, MPI_INT, &status));
  check_count(&status, MPI_INT, kBlocks * kBlock, "read");
  for (int b = 0; b < kBlocks; ++b) {
    for (int i = 0; i < kBlock; ++i) {
      const int expected = ((kBlocks + b) * size + next) * kBlock + i;
      CHECK(back[b * kBlock + i] == expected, "element %d is %d, not %d", b * kBlock + i,
            back[b * kBlock + i], expected);
    }
  }

  /* The whole, in bytes. */
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Offset bytes;
  OK(MPI_File_get_size(file, &bytes));
  const MPI_Offset all = 16 + (MPI_Offset)sizeof(int) * 3 * kBlocks * kBlock * size;
  CHECK(bytes == all, "%lld bytes, not %lld", (long long)bytes, (long long)all);
  char* whole = malloc((size_t)all + 100);
  OK(MPI_File_read_at(file, 0, whole, (int)all + 100, MPI_BYTE, &status));
  check_count(&status, MPI_BYTE, (int)all, "read to the end");
  for (int i = 0; i < 3 * kBlocks * kBlock * size; ++i) {
    unsigned char* word = (unsigned char*)whole + 16 + 4 * i;
    int value;
    memcpy(&value, word, 4);
    if (strcmp(representation, "external32") == 0) {
      value = word[0] << 24 | word[1] << 16 | word[2] << 8 | word[3];
    }
    CHECK(value == i, "word %d is %d", i, value);
  }
  free(whole);
  MPI_Type_free(&resized);
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL, "a file is left");

  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, info, &file));
  OK(MPI_File_close(&file));
  CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file)) ==
            MPI_ERR_NO_SUCH_FILE,
        "the file is not gone");
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int share = 0; share < 2; ++share) {
    once(share, "native");
    once(share, "external32");
  }
  return finish("collective");
}
