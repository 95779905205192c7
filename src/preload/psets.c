/* The process set isthmus://cluster/NAME where the world is one cluster: a native job, in which
 * this is all that is preloaded. The set is the native library's mpi://WORLD under another name, so
 * this knows names of functions and nothing of MPI itself; handles pass through as machine words.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

#define EXPORTED __attribute__((visibility("default")))
/* A tool's MPI_X calls PMPI_X. */
#define ALSO(function) EXPORTED __attribute__((alias(#function)))

typedef void* handle; /* an int or a pointer */

static const char* const libraries[] = {"libmpi.so*", "libmpich.so*", "libmpi_abi.so*", 0};
static char own_set[256]; /* empty: not started for such a job */

/* Stores the native function behind `name` in `*function`. */
static void find_native(const char* name, void* function) {
  char path[PATH_MAX];
  void* found = dlsym(RTLD_NEXT, name);
  if (!found && isthmus_find_loaded(libraries, path, sizeof path)) { /* Python loads it locally */
    void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library) found = dlsym(library, name);
  }
  if (!found) {
    fprintf(stderr, "isthmus: this function is missing in the MPI library: %s\n", name);
    exit(1);
  }
  memcpy(function, &found, sizeof found);
}

static const char* native_name(const char* name) {
  return name && *own_set && strcmp(name, own_set) == 0 ? "mpi://WORLD" : name;
}

EXPORTED int MPI_Session_get_num_psets(handle session, handle info, int* number);
int MPI_Session_get_num_psets(handle session, handle info, int* number) {
  int (*call)(handle, handle, int*);
  find_native("PMPI_Session_get_num_psets", &call);
  const int code = call(session, info, number);
  if (code == 0 && *own_set) ++*number;
  return code;
}
ALSO(MPI_Session_get_num_psets) int PMPI_Session_get_num_psets(handle, handle, int*);

/* The native sets come first. A length of 0 asks for the one needed. */
EXPORTED int MPI_Session_get_nth_pset(handle session, handle info, int n, int* length, char* name);
int MPI_Session_get_nth_pset(handle session, handle info, int n, int* length, char* name) {
  int (*count)(handle, handle, int*);
  int (*call)(handle, handle, int, int*, char*);
  int natives = 0;
  find_native("PMPI_Session_get_num_psets", &count);
  find_native("PMPI_Session_get_nth_pset", &call);
  const int code = count(session, info, &natives);
  if (code != 0) return code;
  if (!*own_set || n != natives) return call(session, info, n, length, name);
  if (*length > 0) snprintf(name, (size_t)*length, "%s", own_set);
  *length = (int)strlen(own_set) + 1;
  return 0;
}
ALSO(MPI_Session_get_nth_pset) int PMPI_Session_get_nth_pset(handle, handle, int, int*, char*);

EXPORTED int MPI_Session_get_pset_info(handle session, const char* name, handle* info);
int MPI_Session_get_pset_info(handle session, const char* name, handle* info) {
  int (*call)(handle, const char*, handle*);
  find_native("PMPI_Session_get_pset_info", &call);
  return call(session, native_name(name), info);
}
ALSO(MPI_Session_get_pset_info) int PMPI_Session_get_pset_info(handle, const char*, handle*);

EXPORTED int MPI_Group_from_session_pset(handle session, const char* name, handle* group);
int MPI_Group_from_session_pset(handle session, const char* name, handle* group) {
  int (*call)(handle, const char*, handle*);
  find_native("PMPI_Group_from_session_pset", &call);
  return call(session, native_name(name), group);
}
ALSO(MPI_Group_from_session_pset) int PMPI_Group_from_session_pset(handle, const char*, handle*);

/* The name of this library in a list separated by colons or spaces; its own variable says it. */
static void take_out_of(char* list, const char* mine) {
  char* at = strstr(list, mine);
  if (!at) return;
  char* end = at + strlen(mine);
  memmove(at, end, strlen(end) + 1);
  for (size_t last = strlen(list); last > 0 && list[last - 1] == ':';) list[--last] = 0;
}

/* What `isthmusd exec` left is for the MPI program that it started, not for that one's children. */
__attribute__((constructor)) static void begin(void) {
  char path[PATH_MAX];
  Dl_info own;
  const char* mine = getenv("ISTHMUS_STUB");
  const char* cluster = getenv("ISTHMUS_CLUSTER");
  if (!mine || !cluster || !dladdr(own_set, &own) || strcmp(own.dli_fname, mine) != 0) return;
  snprintf(own_set, sizeof own_set, "isthmus://cluster/%s", cluster);
  if (!isthmus_find_loaded(libraries, path, sizeof path)) return; /* a shell, or Python */
  char* preload = getenv("LD_PRELOAD");
  if (preload) take_out_of(preload, mine);
  if (preload && !*preload) unsetenv("LD_PRELOAD");
  unsetenv("ISTHMUS_STUB");
  unsetenv("ISTHMUS_LIBMPI");
}
