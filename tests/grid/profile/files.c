/* Every rank writes and reads a file that is in the first cluster. */
#include <mpi.h>
int main(int argc, char** argv) {
  static char data[1 << 20];
  int rank;
  MPI_File file;
  MPI_Request request;
  MPI_Info hints;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "isthmus_share", "false");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
  for (int i = 0; i < 200; ++i) {
    MPI_Offset place = (MPI_Offset)rank << 20;
    MPI_File_write_at(file, place, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &place);
    MPI_File_iread_at(file, (MPI_Offset)rank << 20, data, sizeof data, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
