/* opens LIBRARY HOW WHAT: opens a library that calls MPI, by dlopen (plain) or dlmopen (apart), and
 * lets it begin. WHAT: "lasts" (calls MPI_Init and stays until it is ended) or "never" (lives longer
 * than anybody looks for without it). */
#ifdef LIBRARY
#include <mpi.h>
#include <string.h>
#include <unistd.h>
void begin(const char* what);
void begin(const char* what) {
  int flag;
  MPI_Initialized(&flag);
  if (strcmp(what, "never") == 0) {
    sleep(3);
  } else {
    MPI_Init(0, 0);
    pause();
  }
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  void* library = 0;
  if (argc != 4) return 2;
  if (strcmp(argv[2], "apart") == 0) {
    library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
  } else {
    library = dlopen(argv[1], RTLD_NOW);
  }
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  void (*begin)(const char*) = (void (*)(const char*))dlsym(library, "begin");
  begin(argv[3]);
  puts("never");
  return 0;
}
#endif
