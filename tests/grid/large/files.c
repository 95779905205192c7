/* Counts over 2^31 of bytes in files, with the _c names: of one process, and of all in turn by
   pieces that are gathered. */
#include <stdint.h>

#include "../../programs/file/file.h"

enum { kPiece = 1000 };

static const MPI_Count kBytes = 2200000000;

static uint32_t word(MPI_Count at, int from) {
  return (uint32_t)(at * 2654435761u >> 3) ^ (uint32_t)from;
}

static void fill(char* data, int from) {
  for (MPI_Count k = 0; k < kBytes; k += 4) {
    const uint32_t value = word(k, from);
    memcpy(data + k, &value, 4);
  }
}

static void check(const char* data, const MPI_Status* status, int from) {
  MPI_Count count = 0;
  MPI_Get_elements_c(status, MPI_BYTE, &count);
  CHECK(count == kBytes, "%lld bytes", (long long)count);
  for (MPI_Count k = 0; k < kBytes; k += 4) {
    uint32_t value;
    memcpy(&value, data + k, 4);
    CHECK(value == word(k, from), "byte %lld is wrong", (long long)k);
  }
}

static void all_see(MPI_File file) {
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
}

/* The last writes, everybody reads. */
static void alone(MPI_File file, char* data) {
  MPI_Status status;
  if (rank == size - 1) {
    fill(data, rank);
    OK(MPI_File_write_at_c(file, 5, data, kBytes, MPI_BYTE, &status));
    check(data, &status, rank);
  }
  all_see(file);
  MPI_Offset bytes = 0;
  OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes == kBytes + 5, "%lld bytes", (long long)bytes);
  memset(data, 0, (size_t)kBytes);
  OK(MPI_File_read_at_c(file, 5, data, kBytes, MPI_BYTE, &status));
  check(data, &status, size - 1);
}

/* Each reads what the next one wrote. */
static void in_turn(MPI_File file, char* data) {
  MPI_Datatype piece, tile;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)kPiece * size, &tile);
  MPI_Type_commit(&tile);
  MPI_Status status;
  const int next = (rank + 1) % size;
  OK(MPI_File_set_view(file, kPiece * rank, MPI_BYTE, tile, "native", MPI_INFO_NULL));
  fill(data, rank);
  OK(MPI_File_write_all_c(file, data, kBytes, MPI_BYTE, &status));
  check(data, &status, rank);
  all_see(file);
  OK(MPI_File_set_view(file, kPiece * next, MPI_BYTE, tile, "native", MPI_INFO_NULL));
  memset(data, 0, (size_t)kBytes);
  OK(MPI_File_read_all_c(file, data, kBytes, MPI_BYTE, &status));
  check(data, &status, next);
  MPI_Type_free(&tile);
  MPI_Type_free(&piece);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char* const data = malloc((size_t)kBytes);
  for (int share = 0; share < 2; ++share) {
    at = share ? "by each" : "at the home";
    const char* name = fresh_name("large");
    MPI_Info info = hints(share);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, name,
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    alone(file, data);
    in_turn(file, data);
    OK(MPI_File_close(&file));
  }
  free(data);
  return finish("files");
}
