/* home FILE CLUSTER: the cluster fails that keeps a file, which all write. The others get errors,
   and end. The file is far from them: a hint says that they do not share it. */
#include "../../../include/isthmus.h"
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv) {
  int rank = 0;
  char data[1000];
  MPI_File file;
  MPI_Info info;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  memset(data, 'a' + rank, sizeof data);
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", "false");
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) !=
      MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Info_free(&info);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  int code =
      MPI_File_write_at(file, (MPI_Offset)rank * 1000, data, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(isthmus_cluster_name(isthmus_cluster()), argv[2]) == 0) raise(SIGKILL);
  while ((code = MPI_File_read_at(file, 0, data, 1000, MPI_CHAR, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
    continue;
  if (class_of(code) != ISTHMUS_ERR_PROC_FAILED) MPI_Abort(MPI_COMM_WORLD, 4);
  code = MPI_File_iwrite_at(file, 0, data, 1000, MPI_CHAR, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (class_of(code) != ISTHMUS_ERR_PROC_FAILED) MPI_Abort(MPI_COMM_WORLD, 5);
  fputs("an error\n", stdout);  // in one write: MPICH does not buffer, and printf would call puts
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
