/* MPICH before 4.2 over UCX (pmodels/mpich 6596): MPI_Finalize closes each endpoint. UCX's TCP
 * wants an answer from the peer for that. Then MPI_Finalize waits in the process manager's barrier,
 * where it answers no peer. The slower rank waits forever: sometimes, and more often on longer
 * ways.
 *
 * A rank that has left the grid leaves its endpoints open instead: since the grid's barrier no peer
 * waits for it, and UCX closes them with their worker, which asks no peer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "stub.h"

static int has_left(void) {
  int (*ask)(void);
  void* const found = isthmus_face_function("isthmus_has_left");
  if (!found) return 0;
  memcpy(&ask, &found, sizeof ask);
  return ask();
}

/* The function in the library that the caller is linked to, which may have been loaded for it
 * alone. */
static void* real_for(const void* caller) {
  Dl_info info;
  void* const library =
      dladdr(caller, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : 0;
  void* const found = dlsym(library ? library : RTLD_NEXT, "ucp_disconnect_nb");
  if (library) dlclose(library);
  return found;
}

/* As UCX's: null means done. */
__attribute__((visibility("default"))) void* ucp_disconnect_nb(void* endpoint);
void* ucp_disconnect_nb(void* endpoint) {
  if (has_left()) return 0;
  void* (*real)(void*);
  void* const found = real_for(__builtin_return_address(0));
  if (!found)
    isthmus_die("the MPI library finds no ucp_disconnect_nb: install the UCX that it is for", 0);
  memcpy(&real, &found, sizeof real);
  return real(endpoint);
}
