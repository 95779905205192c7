/* Open MPI's Fortran layer knows the native communicator alone. It converts as many datatypes as
 * that communicator has ranks (MPI_ALLTOALLW and its like). Open MPI 5 also asks it for the
 * neighbours, and writes into the request which arrays are to be freed. A request of a communicator
 * that spans clusters has another type. In a grid the functions here stand before that layer. The
 * face does those calls, and the layer does all others. */
#include <string.h>

#include "stub.h"

static const char* const library[] = {"libmpi_mpifh.so*", 0};

/* Whether the face has done the call. A tool before the layer, such as a profiler, comes first.
 * `layer`: the layer's own name for the function called `name`. */
static int done(const char* function, const char* name, const char* layer, void* const* arguments) {
  typedef int call(const char*, void* const*);
  void* const face = isthmus_face_function("isthmus_fortran_collective");
  void* const native = isthmus_next(name, library);
  call* collective;
  if (!face || (native && native != isthmus_next(layer, library))) return 0;
  memcpy(&collective, &face, sizeof collective);
  return collective(function, arguments);
}

#define PARAMETERS_8 void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h
#define PARAMETERS_9 PARAMETERS_8, void* i
#define PARAMETERS_10 PARAMETERS_9, void* j
#define PARAMETERS_11 PARAMETERS_10, void* k
#define PARAMETERS_12 PARAMETERS_11, void* l
#define ARGUMENTS_8 a, b, c, d, e, f, g, h
#define ARGUMENTS_9 ARGUMENTS_8, i
#define ARGUMENTS_10 ARGUMENTS_9, j
#define ARGUMENTS_11 ARGUMENTS_10, k
#define ARGUMENTS_12 ARGUMENTS_11, l

#define SPELLED(function, name, layer, count)                                  \
  __attribute__((visibility("default"))) void name(PARAMETERS_##count);        \
  void name(PARAMETERS_##count) {                                              \
    void* const arguments[] = {ARGUMENTS_##count};                             \
    void* native;                                                              \
    void (*call)(PARAMETERS_##count);                                          \
    if (done(#function, #name, #layer, arguments)) return;                     \
    native = isthmus_next(#name, library);                                     \
    if (!native) isthmus_die("the MPI library's Fortran layer lacks ", #name); \
    memcpy(&call, &native, sizeof call);                                       \
    call(ARGUMENTS_##count);                                                   \
  }

/* Compilers spell Fortran's names in these ways; mpi_f08 calls the last. `count`: of parameters,
 * the error code included. */
#define COLLECTIVE(function, lower, upper, count)              \
  SPELLED(function, mpi_##lower, ompi_##lower##_f, count)      \
  SPELLED(function, mpi_##lower##_, ompi_##lower##_f, count)   \
  SPELLED(function, mpi_##lower##__, ompi_##lower##_f, count)  \
  SPELLED(function, MPI_##upper, ompi_##lower##_f, count)      \
  SPELLED(function, pmpi_##lower, ompi_##lower##_f, count)     \
  SPELLED(function, pmpi_##lower##_, ompi_##lower##_f, count)  \
  SPELLED(function, pmpi_##lower##__, ompi_##lower##_f, count) \
  SPELLED(function, PMPI_##upper, ompi_##lower##_f, count)     \
  SPELLED(function, ompi_##lower##_f, ompi_##lower##_f, count)

COLLECTIVE(Alltoallw, alltoallw, ALLTOALLW, 10)
COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, 9)
COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 10)
COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 10)

COLLECTIVE(Iallgatherv, iallgatherv, IALLGATHERV, 10)
COLLECTIVE(Ialltoallv, ialltoallv, IALLTOALLV, 11)
COLLECTIVE(Ialltoallw, ialltoallw, IALLTOALLW, 11)
COLLECTIVE(Igatherv, igatherv, IGATHERV, 11)
COLLECTIVE(Iscatterv, iscatterv, ISCATTERV, 11)
COLLECTIVE(Ireduce_scatter, ireduce_scatter, IREDUCE_SCATTER, 8)
COLLECTIVE(Ineighbor_allgatherv, ineighbor_allgatherv, INEIGHBOR_ALLGATHERV, 10)
COLLECTIVE(Ineighbor_alltoallv, ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, 11)
COLLECTIVE(Ineighbor_alltoallw, ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, 11)

COLLECTIVE(Allgatherv_init, allgatherv_init, ALLGATHERV_INIT, 11)
COLLECTIVE(Alltoallv_init, alltoallv_init, ALLTOALLV_INIT, 12)
COLLECTIVE(Alltoallw_init, alltoallw_init, ALLTOALLW_INIT, 12)
COLLECTIVE(Gatherv_init, gatherv_init, GATHERV_INIT, 12)
COLLECTIVE(Scatterv_init, scatterv_init, SCATTERV_INIT, 12)
COLLECTIVE(Reduce_scatter_init, reduce_scatter_init, REDUCE_SCATTER_INIT, 9)
COLLECTIVE(Neighbor_allgatherv_init, neighbor_allgatherv_init, NEIGHBOR_ALLGATHERV_INIT, 11)
COLLECTIVE(Neighbor_alltoallv_init, neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT, 12)
COLLECTIVE(Neighbor_alltoallw_init, neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT, 12)
