/* headless FOLDER [spawn|abort|fail]: each rank writes its process id into a file there that its rank
   names. Then all add their ranks over all clusters until the file "bell" exists, and print the
   last sum. Rank 0 prints what MPI_Comm_spawn says, or calls MPI_Abort. With "fail" it has spawned
   two processes before, of which one dies while the other waits in MPI_Init. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say_where.h"

static int dies_in_init(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  if (rank && strcmp(rank, "1") == 0) {
    usleep(500000);
    raise(SIGKILL);
  }
  MPI_Init(NULL, NULL);
  return 0;
}

static void ask_for_more(char* program, char** words, int count) {
  MPI_Comm more;
  char text[MPI_MAX_ERROR_STRING];
  int length, kind = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int error = MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, &more,
                             MPI_ERRCODES_IGNORE);
  MPI_Error_class(error, &kind);
  MPI_Error_string(error, text, &length);
  printf("%s %s\n", kind == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "?", text);
  fflush(stdout);
}

int main(int argc, char** argv) {
  char bell[4096];
  char* words[] = {"dies", NULL};
  int rank, size, sum = 0, rung = 0, turns = 0;
  if (strcmp(argv[1], "dies") == 0) return dies_in_init();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say_where(argv[1], rank);
  snprintf(bell, sizeof bell, "%s/bell", argv[1]);
  while (!rung) {
    int mine = rank == 0 && access(bell, F_OK) == 0;
    MPI_Allreduce(&mine, &rung, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && turns++ == 0) {
      printf("up %d\n", size);
      fflush(stdout);
      if (argc > 2 && strcmp(argv[2], "fail") == 0) ask_for_more(argv[0], words, 2);
    }
    usleep(2000);
  }
  printf("rank %d: sum %d\n", rank, sum);
  if (argc > 2 && rank == 0 && strcmp(argv[2], "spawn") == 0) ask_for_more(argv[0], MPI_ARGV_NULL, 1);
  if (argc > 2 && rank == 0 && strcmp(argv[2], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Finalize();
  return 0;
}
