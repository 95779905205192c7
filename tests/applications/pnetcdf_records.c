// Writes a file of PnetCDF: subarrays collectively, requests put together, an independent block,
// records and attributes; reads it back with the blocks of other ranks.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                             \
  do {                                                                          \
    int status = (call);                                                        \
    if (status != NC_NOERR) {                                                   \
      fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, ncmpi_strerror(status)); \
      MPI_Abort(MPI_COMM_WORLD, 2);                                             \
    }                                                                           \
  } while (0)

enum { ROWS = 60, COLUMNS = 96, RECORDS = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const name = argv[1];

  int file, dims[2], records[2], table, steps, marks;
  CHECK(ncmpi_create(MPI_COMM_WORLD, name, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "row", ROWS, &dims[0]));
  CHECK(ncmpi_def_dim(file, "column", COLUMNS, &dims[1]));
  CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &records[0]));
  records[1] = dims[1];
  CHECK(ncmpi_def_var(file, "table", NC_DOUBLE, 2, dims, &table));
  CHECK(ncmpi_def_var(file, "steps", NC_INT, 2, records, &steps));
  CHECK(ncmpi_def_var(file, "marks", NC_SHORT, 1, &dims[1], &marks));
  CHECK(ncmpi_put_att_text(file, NC_GLOBAL, "title", 8, "subarray"));
  CHECK(ncmpi_enddef(file));

  // Columns in turn among the ranks, so that every row is of all of them.
  const MPI_Offset first = COLUMNS * rank / size, next = COLUMNS * (rank + 1) / size;
  MPI_Offset start[2] = {0, first}, count[2] = {ROWS, next - first};
  double* const block = malloc(sizeof(double) * ROWS * COLUMNS);
  for (int i = 0; i < ROWS * (int)(next - first); ++i) block[i] = rank * 1e6 + i;
  CHECK(ncmpi_put_vara_double_all(file, table, start, count, block));

  int requests[RECORDS], statuses[RECORDS], row[RECORDS][COLUMNS];
  for (int record = 0; record < RECORDS; ++record) {
    MPI_Offset at[2] = {record, rank}, much[2] = {1, (COLUMNS - rank + size - 1) / size};
    MPI_Offset stride[2] = {1, size};
    for (int i = 0; i < COLUMNS; ++i) row[record][i] = record * 1000 + rank * 100 + i;
    CHECK(ncmpi_iput_vars_int(file, steps, at, much, stride, row[record], &requests[record]));
  }
  CHECK(ncmpi_wait_all(file, RECORDS, requests, statuses));
  for (int i = 0; i < RECORDS; ++i) CHECK(statuses[i]);

  CHECK(ncmpi_begin_indep_data(file));
  short values[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i) values[i] = (short)(rank * 1000 + i);
  CHECK(ncmpi_put_vara_short(file, marks, &start[1], &count[1], values));
  CHECK(ncmpi_end_indep_data(file));
  CHECK(ncmpi_close(file));

  CHECK(ncmpi_open(MPI_COMM_WORLD, name, NC_NOWRITE, MPI_INFO_NULL, &file));
  const int other = (rank + 1) % size;
  start[1] = COLUMNS * other / size;
  count[1] = COLUMNS * (other + 1) / size - start[1];
  CHECK(ncmpi_get_vara_double_all(file, table, start, count, block));
  double sum = 0, total = 0;
  int wrong = 0;
  for (int i = 0; i < ROWS * (int)count[1]; ++i) {
    wrong += block[i] != other * 1e6 + i;
    sum += block[i];
  }
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  int all_wrong = 0;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  CHECK(ncmpi_close(file));
  if (rank == 0) printf("total %.0f, wrong %d\n", total, all_wrong);
  free(block);
  MPI_Finalize();
  return 0;
}
