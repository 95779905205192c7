/* For `isthmus config --ulfm`: the header of Open MPI, if that is the library, and the names of
 * ULFM. */
#include <mpi.h>
#ifdef OPEN_MPI
#include_next <mpi-ext.h>
#endif
#include "../isthmus_ulfm.h"
