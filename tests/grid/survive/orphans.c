/* A member fails after the others have started processes, and before these have met them. So all
 * that live get an error, and the processes end. orphans CLUSTER FILE: it fails when the first of
 * the processes has made the file. */
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

int main(int argc, char** argv) {
  char* words[] = {argv[1], argv[2], "child", NULL};
  int rank, size;
  MPI_Comm inter, shrunk;
  CHECK(argc > 2, "orphans CLUSTER FILE");
  if (argc > 3) fclose(fopen(argv[2], "w"));
  MPI_Init(&argc, &argv);
  CHECK(argc == 3, "a process without parents goes on");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(isthmus_cluster_name(isthmus_cluster()), argv[1])) {
    while (access(argv[2], F_OK) != 0) usleep(1000);
    exit(1);
  }
  CHECK(MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE) == ISTHMUS_ERR_PROC_FAILED,
        "no error");
  CHECK(isthmus_comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS, "it cannot be shrunk");
  MPI_Comm_rank(shrunk, &rank);
  MPI_Comm_size(shrunk, &size);
  if (rank == 0) printf("%d go on\n", size);
  MPI_Comm_free(&shrunk);
  MPI_Finalize();
  return 0;
}
