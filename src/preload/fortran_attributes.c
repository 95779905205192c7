/* Fortran's MPI_WIN_GET_ATTR, MPI_COMM_GET_ATTR and MPI_ATTR_GET do not reach those of C. The
 * native library does not know the attributes of what spans clusters, nor those that are of the
 * whole grid. In a grid these stand before the library's own. */
#include <string.h>

#include "stub.h"

/* The face answers by these numbers. */
enum answer { ASK_NATIVE, IS_SET, IS_NOT_SET };

static enum answer attribute(const char* by, int object, int keyval, long* value) {
  typedef int ask_face(int, int, long*);
  void* const face = isthmus_face_function(by);
  ask_face* ask;
  if (!face) return ASK_NATIVE;
  memcpy(&ask, &face, sizeof ask);
  return (enum answer)ask(object, keyval, value);
}

#define OF_WINDOWS "isthmus_fortran_win_attribute"
#define OF_COMMUNICATORS "isthmus_fortran_comm_attribute"

#ifdef ISTHMUS_OMPI
typedef void get_attr(int*, int*, void*, int*, int*);

/* This `flag` is .true. for all compilers that test one bit. */
#define GET_ATTR(name, by, type)                                               \
  __attribute__((visibility("default"))) get_attr name;                        \
  void name(int* object, int* keyval, void* value, int* flag, int* ierror) {   \
    static const char* const layer[] = {"libmpi_mpifh.so*", 0};                \
    long found = 0;                                                            \
    const enum answer said = attribute(by, *object, *keyval, &found);          \
    void* native;                                                              \
    get_attr* call;                                                            \
    if (said != ASK_NATIVE) {                                                  \
      *flag = said == IS_SET;                                                  \
      if (*flag) *(type*)value = (type)found;                                  \
      if (ierror) *ierror = 0; /* optional in mpi_f08 */                       \
      return;                                                                  \
    }                                                                          \
    native = isthmus_next(#name, layer);                                       \
    if (!native) isthmus_die("the MPI library's Fortran layer lacks ", #name); \
    memcpy(&call, &native, sizeof call);                                       \
    call(object, keyval, value, flag, ierror);                                 \
  }

/* Compilers spell Fortran's names in these ways; mpi_f08 calls one of them. */
#define SPELLED(lower, upper, by, type) \
  GET_ATTR(mpi_##lower, by, type)       \
  GET_ATTR(mpi_##lower##_, by, type)    \
  GET_ATTR(mpi_##lower##__, by, type)   \
  GET_ATTR(MPI_##upper, by, type)       \
  GET_ATTR(pmpi_##lower, by, type)      \
  GET_ATTR(pmpi_##lower##_, by, type)   \
  GET_ATTR(pmpi_##lower##__, by, type)  \
  GET_ATTR(PMPI_##upper, by, type)      \
  GET_ATTR(ompi_##lower##_f, by, type)

SPELLED(win_get_attr, WIN_GET_ATTR, OF_WINDOWS, long)
SPELLED(comm_get_attr, COMM_GET_ATTR, OF_COMMUNICATORS, long)
SPELLED(attr_get, ATTR_GET, OF_COMMUNICATORS, int)
#else
/* MPICH's Fortran layers call these, with C's numbers of predefined attributes and one. In C, where
 * the value is an address, `type` is AS_ADDRESS. */
typedef int get_attr(int, int, void*, int*, int);
enum { AS_ADDRESS = 0 }; /* MPIR_ATTR_PTR */

#define GET_ATTR(name, by)                                                          \
  __attribute__((visibility("default"))) get_attr name;                             \
  int name(int object, int keyval, void* value, int* flag, int type) {              \
    static const char* const layer[] = {"libmpich.so.12", "libmpi.so.12", 0};       \
    static void* native;                                                            \
    void* next = __atomic_load_n(&native, __ATOMIC_RELAXED);                        \
    get_attr* call;                                                                 \
    const enum answer said =                                                        \
        type == AS_ADDRESS ? ASK_NATIVE : attribute(by, object, keyval - 1, value); \
    if (said != ASK_NATIVE) {                                                       \
      *flag = said == IS_SET;                                                       \
      return 0;                                                                     \
    }                                                                               \
    if (!next) next = isthmus_next(#name, layer);                                   \
    if (!next) isthmus_die("the MPI library lacks ", #name);                        \
    __atomic_store_n(&native, next, __ATOMIC_RELAXED);                              \
    memcpy(&call, &next, sizeof call);                                              \
    return call(object, keyval, value, flag, type);                                 \
  }

GET_ATTR(MPII_Win_get_attr, OF_WINDOWS)
GET_ATTR(MPII_Comm_get_attr, OF_COMMUNICATORS)
#endif
