/* MPI_INFO_ENV names the program, where the library has a command there: MPICH 4.0 has none.
 * ranks: 2 */
#include <mpi.h>
#include <string.h>

#include "../checking.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char command[4096] = "";
  int there = 0;
  MPI_Info_get(MPI_INFO_ENV, "command", sizeof command - 1, command, &there);
  if (there) {
    const char* name = strrchr(argv[0], '/');
    const char* said = strrchr(command, '/');
    name = name ? name + 1 : argv[0];
    said = said ? said + 1 : command;
    CHECK(strcmp(name, said) == 0, "the command is \"%s\", the program \"%s\"", command, argv[0]);
  }
  MPI_Finalize();
  return 0;
}
