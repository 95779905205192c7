/* headless FOLDER [spawn|abort]: each rank writes its process id into a file there that its rank
   names. Then all add their ranks over all clusters until the file "bell" exists, and print the
   last sum. Rank 0 prints what MPI_Comm_spawn says, or calls MPI_Abort. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say_where(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 9);
  fprintf(file, "%d", (int)getpid());
  fclose(file);
}

static void ask_for_more(char* program) {
  MPI_Comm more;
  char text[MPI_MAX_ERROR_STRING];
  int length, kind = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int error = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &more,
                             MPI_ERRCODES_IGNORE);
  MPI_Error_class(error, &kind);
  MPI_Error_string(error, text, &length);
  printf("%s %s\n", kind == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "?", text);
}

int main(int argc, char** argv) {
  char bell[4096];
  int rank, size, sum = 0, rung = 0, turns = 0;
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
    }
    usleep(2000);
  }
  printf("rank %d: sum %d\n", rank, sum);
  if (argc > 2 && rank == 0 && strcmp(argv[2], "spawn") == 0) ask_for_more(argv[0]);
  if (argc > 2 && rank == 0 && strcmp(argv[2], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Finalize();
  return 0;
}
