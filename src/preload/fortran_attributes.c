/* Fortran's MPI_WIN_GET_ATTR does not reach MPI_Win_get_attr, and the native handle of a window
 * that spans clusters knows other attributes than the window has. In a grid these stand before the
 * library's own. */
#include <string.h>

#include "stub.h"

/* 0: the native library is to be asked. */
static int attribute(int win, int keyval, long* value) {
  typedef int ask_face(int, int, long*);
  void* const face = isthmus_face_function("isthmus_fortran_win_attribute");
  ask_face* ask;
  if (!face) return 0;
  memcpy(&ask, &face, sizeof ask);
  return ask(win, keyval, value);
}

#ifdef ISTHMUS_OMPI
typedef void win_get_attr(int*, int*, long*, int*, int*);

/* `flag` is .true. in the ways of all compilers that look at one bit. */
#define WIN_GET_ATTR(name)                                                     \
  __attribute__((visibility("default"))) win_get_attr name;                    \
  void name(int* win, int* keyval, long* value, int* flag, int* ierror) {      \
    static const char* const layer[] = {"libmpi_mpifh.so*", 0};                \
    void* native;                                                              \
    win_get_attr* call;                                                        \
    if (attribute(*win, *keyval, value)) {                                     \
      *flag = 1;                                                               \
      if (ierror) *ierror = 0; /* optional in mpi_f08 */                       \
      return;                                                                  \
    }                                                                          \
    native = isthmus_next(#name, layer);                                       \
    if (!native) isthmus_die("the MPI library's Fortran layer lacks ", #name); \
    memcpy(&call, &native, sizeof call);                                       \
    call(win, keyval, value, flag, ierror);                                    \
  }

/* Compilers spell Fortran's names in these ways; mpi_f08 calls one of them. */
WIN_GET_ATTR(mpi_win_get_attr)
WIN_GET_ATTR(mpi_win_get_attr_)
WIN_GET_ATTR(mpi_win_get_attr__)
WIN_GET_ATTR(MPI_WIN_GET_ATTR)
WIN_GET_ATTR(pmpi_win_get_attr)
WIN_GET_ATTR(pmpi_win_get_attr_)
WIN_GET_ATTR(pmpi_win_get_attr__)
WIN_GET_ATTR(PMPI_WIN_GET_ATTR)
WIN_GET_ATTR(ompi_win_get_attr_f)
#else
/* What MPICH's Fortran layers call, with C's numbers of predefined attributes and one. */
typedef int win_get_attr(int, int, void*, int*, int);
enum { AS_NUMBER = 1 }; /* MPIR_ATTR_AINT */

__attribute__((visibility("default"))) win_get_attr MPII_Win_get_attr;
int MPII_Win_get_attr(int win, int keyval, void* value, int* flag, int type) {
  static const char* const layer[] = {"libmpich.so.12", "libmpi.so.12", 0};
  void* native;
  win_get_attr* call;
  if (type == AS_NUMBER && attribute(win, keyval - 1, value)) {
    *flag = 1;
    return 0;
  }
  native = isthmus_next("MPII_Win_get_attr", layer);
  if (!native) isthmus_die("the MPI library lacks ", "MPII_Win_get_attr");
  memcpy(&call, &native, sizeof call);
  return call(win, keyval, value, flag, type);
}
#endif
