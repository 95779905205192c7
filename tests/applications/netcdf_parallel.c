// Writes a file of parallel NetCDF, in the format of argv[2]: "hdf5" (by HDF5) or "cdf5" (by
// PnetCDF); reads it back with the blocks of other ranks.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                          \
  do {                                                                       \
    int status = (call);                                                     \
    if (status != NC_NOERR) {                                                \
      fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, nc_strerror(status)); \
      MPI_Abort(MPI_COMM_WORLD, 2);                                          \
    }                                                                        \
  } while (0)

enum { LEVELS = 7, COLUMNS = 240 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int format = strcmp(argv[2], "hdf5") == 0 ? NC_NETCDF4 : NC_64BIT_DATA;

  int file, dims[2], wind, rain;
  CHECK(nc_create_par(argv[1], NC_CLOBBER | format, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  CHECK(nc_def_dim(file, "level", LEVELS, &dims[0]));
  CHECK(nc_def_dim(file, "column", COLUMNS, &dims[1]));
  CHECK(nc_def_var(file, "wind", NC_FLOAT, 2, dims, &wind));
  CHECK(nc_def_var(file, "rain", NC_INT, 1, &dims[1], &rain));
  CHECK(nc_put_att_text(file, wind, "unit", 3, "m/s"));
  CHECK(nc_enddef(file));
  CHECK(nc_var_par_access(file, wind, NC_COLLECTIVE));
  CHECK(nc_var_par_access(file, rain, NC_INDEPENDENT));
  const size_t first = (size_t)(COLUMNS * rank / size),
               next = (size_t)(COLUMNS * (rank + 1) / size);
  size_t start[2] = {0, first}, count[2] = {LEVELS, next - first};
  float levels[LEVELS * COLUMNS];
  int drops[COLUMNS];
  for (size_t i = 0; i < LEVELS * count[1]; ++i) levels[i] = (float)(rank * 10000 + (int)i);
  for (size_t i = 0; i < count[1]; ++i) drops[i] = (int)(first + i) * 3;
  CHECK(nc_put_vara_float(file, wind, start, count, levels));
  CHECK(nc_put_vara_int(file, rain, &start[1], &count[1], drops));
  CHECK(nc_close(file));

  CHECK(nc_open_par(argv[1], NC_NOWRITE | format, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  CHECK(nc_inq_varid(file, "wind", &wind));
  const int other = (rank + 1) % size;
  start[1] = (size_t)(COLUMNS * other / size);
  count[1] = (size_t)(COLUMNS * (other + 1) / size) - start[1];
  CHECK(nc_get_vara_float(file, wind, start, count, levels));
  int wrong = 0, all_wrong = 0;
  for (size_t i = 0; i < LEVELS * count[1]; ++i) {
    wrong += levels[i] != (float)(other * 10000 + (int)i);
  }
  CHECK(nc_close(file));
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all_wrong);
  MPI_Finalize();
  return 0;
}
