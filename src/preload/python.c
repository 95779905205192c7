/* Python programs load libmpi late, by dlopen. Before that, mpi4py's wheels ask the process for MPI
 * symbols to learn which MPI library is there, if any. They would find the names of the stub, but
 * no library behind them. So a Python interpreter loads the program's library at start. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "stub.h"

__attribute__((constructor)) static void load_for_python(void) {
  char path[PATH_MAX];
  const char* library = getenv("ISTHMUS_LIBMPI");
  if (!library || !*library || !dlsym(RTLD_DEFAULT, "Py_IsInitialized")) return;
  if (isthmus_find_loaded(isthmus_sonames, path, sizeof path)) return;
  dlopen(library, RTLD_NOW | RTLD_GLOBAL); /* where it fails, mpi4py will say why */
}
