/* mpi4py's wheels ask for MPI symbols in the process before they have loaded a libmpi, and would
 * take our names for a library (of the wrong kind, as the data symbols are missing). They do not
 * ask when told what to use. */
#include <stdlib.h>
#include <string.h>

#include "stub.h"

__attribute__((constructor)) static void tell_mpi4py(void) {
  if (getenv("MPI4PY_MPIABI") || getenv("MPI4PY_LIBMPI")) return;
  setenv("MPI4PY_MPIABI", strcmp(isthmus_abi, "ompi") == 0 ? "openmpi" : isthmus_abi, 1);
  setenv("ISTHMUS_SET_MPIABI", "1", 1); /* the face takes both out again */
}
