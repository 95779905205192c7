/* write FILE SHARE: writes blocks of an array, and what comes in the order of ranks. */
#include <mpi.h>
#include <stdlib.h>

enum { kPlanes = 20, kRows = 31, kColumns = 17, kCells = kPlanes * kRows * kColumns };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", argv[2]);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file) !=
      MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double* cells = malloc(sizeof(double) * kCells);
  for (int k = 0; k < kCells; ++k) cells[k] = rank * 1e6 + k * 0.25;
  MPI_Datatype block;
  MPI_Type_create_subarray(3, (int[]){kPlanes, kRows, kColumns * size},
                           (int[]){kPlanes, kRows, kColumns}, (int[]){0, 0, kColumns * rank},
                           MPI_ORDER_C, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  MPI_File_set_view(file, 40, MPI_DOUBLE, block, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, cells, kCells, MPI_DOUBLE, MPI_STATUS_IGNORE);
  const MPI_Offset behind = 40 + (MPI_Offset)sizeof(double) * kCells * size;
  MPI_File_set_view(file, behind, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_ordered(file, cells, 100 + rank, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, cells, 100 - rank, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Type_free(&block);
  MPI_Info_free(&info);
  free(cells);
  MPI_Finalize();
  return 0;
}
