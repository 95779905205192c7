/* Programs that open libmpi by hand (Julia, Java, ctypes) look its functions up with dlsym on its
 * handle, and would find the library's own. If MPI calls must come through Isthmus, they find the
 * names of the stub. Lookups through RTLD_DEFAULT find those by themselves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

void* isthmus_of_c_library(const char* name, void** kept) {
  /* The version that the C library gave these functions when it took libdl in, or the first of the
   * machine. */
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
  void* found = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; !found && i < sizeof versions / sizeof *versions; ++i) {
    found = dlvsym(RTLD_NEXT, name, versions[i]);
  }
  if (!found) isthmus_die("the C library lacks ", name);
  __atomic_store_n(kept, found, __ATOMIC_RELEASE);
  return found;
}

void* isthmus_real_dlsym(void) {
  static void* real;
  return isthmus_of_c_library("dlsym", &real);
}

void* isthmus_look_up(void* handle, const char* name) {
  void* (*look_up)(void*, const char*);
  void* const real = isthmus_real_dlsym();
  memcpy(&look_up, &real, sizeof look_up);
  return look_up(handle, name);
}

static int compare(const void* name, const void* entry) {
  return strcmp(name, *(const char* const*)entry);
}

/* The stub and the faces get the symbols that they look up. */
static int is_ours(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return 0;
  const char* slash = strrchr(info.dli_fname, '/');
  return strncmp(slash ? slash + 1 : info.dli_fname, "libisthmus-", 11) == 0;
}

void* isthmus_own_symbol(void* handle, const char* name, void* caller) {
  if (!name || (name[0] != 'M' && name[0] != 'P') || !isthmus_in_grid()) return 0;
  const char* const* entry =
      bsearch(name, isthmus_names, isthmus_count, sizeof *isthmus_names, compare);
  if (!entry || is_ours(caller)) return 0;
  const void* native = isthmus_look_up(handle, name);
  if (!native || !isthmus_is_in(isthmus_sonames, native)) return 0;
  return isthmus_entries[entry - isthmus_names];
}
