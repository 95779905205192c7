/* Files whose data has another representation, from and to the memory of a device. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "checks.h"

enum { MANY = 2000, ROWS = 40, APART = 10 };
static MPI_File file;

/* Each int as its negative, in 8 bytes. */
static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  (void)extra;
  *extent = type == MPI_INT ? 8 : -1;
  return MPI_SUCCESS;
}
static int to_file(void* buffer, MPI_Datatype type, int count, void* to, MPI_Offset position,
                   void* extra) {
  (void)type, (void)extra;
  for (int i = 0; i < count; ++i) {
    const int64_t number = -(int64_t)((int*)buffer)[position + i];
    memcpy((char*)to + 8 * i, &number, 8);
  }
  return MPI_SUCCESS;
}
static int from_file(void* buffer, MPI_Datatype type, int count, void* from, MPI_Offset position,
                     void* extra) {
  (void)type, (void)extra;
  for (int i = 0; i < count; ++i) {
    int64_t number;
    memcpy(&number, (char*)from + 8 * i, 8);
    ((int*)buffer)[position + i] = (int)-number;
  }
  return MPI_SUCCESS;
}

static void view(const char* representation) {
  doing = representation;
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, representation, MPI_INFO_NULL);
}
static void settle(void) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

static void in_a_row(const char* representation, int other) {
  view(representation);
  int* const out = on_device(MANY, 1000 * rank);
  int* const in = on_device(MANY, -5);
  int host[2];
  MPI_Status status;
  int got = 0;
  MPI_File_write_at_all(file, rank * MANY, out, MANY, MPI_INT, MPI_STATUS_IGNORE);
  settle();
  MPI_File_read_at(file, other * MANY, in, MANY, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  differs(-1, got, MANY);
  expect_run(in, MANY, 1000 * other);
  MPI_File_read_at(file, other * MANY + 5, host, 2, MPI_INT, MPI_STATUS_IGNORE);
  differs(6, host[1], 1000 * other + 6);
  doing = "beyond the end of a file";
  int* const beyond = on_device(MANY, -5);
  MPI_File_read_at(file, size * MANY - 10, beyond, MANY, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  differs(-1, got, 10);
  expect(beyond, 9, 1000 * (size - 1) + MANY - 1);
  expect(beyond, 10, 5);
}

static void with_gaps(int other) {
  view("external32");
  doing = "external32 with gaps";
  MPI_Datatype rows;
  MPI_Type_vector(ROWS, 3, APART, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  int* const out = on_device(ROWS * APART, 1000 * rank);
  int* const in = on_device(ROWS * APART, -1000000);
  MPI_Request request;
  MPI_File_iwrite_at(file, rank * MANY, out, 1, rows, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  settle();
  MPI_File_iread_at(file, other * MANY, in, 1, rows, &request);
  MPI_Type_free(&rows);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ROWS * APART - 7; ++i) {
    expect(in, i, i % APART < 3 ? 1000 * other + i : -1000000 + i);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int other = (rank + size / 2) % size;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_Register_datarep("negative", from_file, to_file, extent_of, NULL);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  in_a_row("external32", other);
  with_gaps(other);
  MPI_File_set_size(file, 0);
  in_a_row("negative", other);
  MPI_File_close(&file);
  return ended(NULL);
}
