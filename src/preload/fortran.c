/* Open MPI's Fortran layer reads the handle of a duplicate when MPI_Comm_idup returns; a grid may
 * have it later. In a grid these functions stand before that layer, and pass all other calls to
 * it. */
#include <string.h>

#include "stub.h"

typedef void call_4(int*, int*, int*, int*);
typedef void call_5(int*, int*, int*, int*, int*);

static const char* const library[] = {"libmpi_mpifh.so*", 0};

/* `layer`: the layer's own name for the function called `name`. */
static void* target(const char* name, const char* layer, const char* own) {
  void* const native = isthmus_next(name, library);
  void* const face = isthmus_face_function(own);
  if (face && (!native || native == isthmus_next(layer, library))) return face;
  if (!native) isthmus_die("the MPI library's Fortran layer lacks ", name);
  return native;
}

#define IDUP(name)                                                                   \
  __attribute__((visibility("default"))) call_4 name;                                \
  void name(int* comm, int* newcomm, int* request, int* ierror) {                    \
    void* const to = target(#name, "ompi_comm_idup_f", "isthmus_fortran_comm_idup"); \
    call_4* call;                                                                    \
    memcpy(&call, &to, sizeof call);                                                 \
    call(comm, newcomm, request, ierror);                                            \
  }
#define IDUP_WITH_INFO(name)                                                                \
  __attribute__((visibility("default"))) call_5 name;                                       \
  void name(int* comm, int* info, int* newcomm, int* request, int* ierror) {                \
    void* const to =                                                                        \
        target(#name, "ompi_comm_idup_with_info_f", "isthmus_fortran_comm_idup_with_info"); \
    call_5* call;                                                                           \
    memcpy(&call, &to, sizeof call);                                                        \
    call(comm, info, newcomm, request, ierror);                                             \
  }

/* Compilers spell Fortran's names in these ways; mpi_f08 calls the last. */
IDUP(mpi_comm_idup)
IDUP(mpi_comm_idup_)
IDUP(mpi_comm_idup__)
IDUP(MPI_COMM_IDUP)
IDUP(pmpi_comm_idup)
IDUP(pmpi_comm_idup_)
IDUP(pmpi_comm_idup__)
IDUP(PMPI_COMM_IDUP)
IDUP(ompi_comm_idup_f)
IDUP_WITH_INFO(mpi_comm_idup_with_info)
IDUP_WITH_INFO(mpi_comm_idup_with_info_)
IDUP_WITH_INFO(mpi_comm_idup_with_info__)
IDUP_WITH_INFO(MPI_COMM_IDUP_WITH_INFO)
IDUP_WITH_INFO(pmpi_comm_idup_with_info)
IDUP_WITH_INFO(pmpi_comm_idup_with_info_)
IDUP_WITH_INFO(pmpi_comm_idup_with_info__)
IDUP_WITH_INFO(PMPI_COMM_IDUP_WITH_INFO)
IDUP_WITH_INFO(ompi_comm_idup_with_info_f)
