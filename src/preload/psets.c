/* The process sets isthmus://cluster/NAME, and isthmus://grid/NAME of each inner grid of the
 * cluster, for a world of one cluster: a native job, in which only this library is preloaded. They
 * are the native library's mpi://WORLD under other names. Also the program's name in MPI_INFO_ENV.
 * This knows names of functions and nothing of MPI itself; handles pass through as machine words.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

#define EXPORTED __attribute__((visibility("default")))
/* A tool that is linked to the program comes behind this library. Its MPI_X has its turn before
 * PMPI_X, which it calls. */
#define WITH_TOOLS(name, parameters, arguments)                                     \
  EXPORTED int MPI_##name parameters;                                               \
  int MPI_##name parameters {                                                       \
    __typeof__(&PMPI_##name) tool;                                                  \
    return find_tool("MPI_" #name, &tool) ? tool arguments : PMPI_##name arguments; \
  }

typedef void* handle; /* an int or a pointer */

static const char* const libraries[] = {"libmpi.so*", "libmpich.so*", "libmpi_abi.so*", 0};
enum { most_sets = 16 }; /* grids within grids, and the cluster */
static char own_sets[most_sets][256];
static int own_count; /* 0: not started for such a job */

/* Stores the native function `name` in `*function`. */
static void find_native(const char* name, void* function) {
  void* const found = isthmus_next(name, libraries); /* Python loads it locally */
  if (!found) {
    fprintf(stderr, "isthmus: this function is missing in the MPI library: %s\n", name);
    exit(1);
  }
  memcpy(function, &found, sizeof found);
}

/* Whether a tool's function comes next; then stores it. */
static int find_tool(const char* name, void* function) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (!found || isthmus_is_in(libraries, found)) return 0;
  memcpy(function, &found, sizeof found);
  return 1;
}

static const char* native_name(const char* name) {
  for (int i = 0; name && i < own_count; ++i) {
    if (strcmp(name, own_sets[i]) == 0) return "mpi://WORLD";
  }
  return name;
}

EXPORTED int PMPI_Session_get_num_psets(handle session, handle info, int* number);
int PMPI_Session_get_num_psets(handle session, handle info, int* number) {
  int (*call)(handle, handle, int*);
  find_native("PMPI_Session_get_num_psets", &call);
  const int code = call(session, info, number);
  if (code == 0) *number += own_count;
  return code;
}
WITH_TOOLS(Session_get_num_psets, (handle session, handle info, int* number),
           (session, info, number))

/* The native sets come first. A length of 0 asks for the one needed. */
EXPORTED int PMPI_Session_get_nth_pset(handle session, handle info, int n, int* length, char* name);
int PMPI_Session_get_nth_pset(handle session, handle info, int n, int* length, char* name) {
  int (*count)(handle, handle, int*);
  int (*call)(handle, handle, int, int*, char*);
  int natives = 0;
  find_native("PMPI_Session_get_num_psets", &count);
  find_native("PMPI_Session_get_nth_pset", &call);
  const int code = count(session, info, &natives);
  if (code != 0) return code;
  if (n < natives || n >= natives + own_count) return call(session, info, n, length, name);
  const char* const set = own_sets[n - natives];
  if (*length > 0) snprintf(name, (size_t)*length, "%s", set);
  *length = (int)strlen(set) + 1;
  return 0;
}
WITH_TOOLS(Session_get_nth_pset, (handle session, handle info, int n, int* length, char* name),
           (session, info, n, length, name))

EXPORTED int PMPI_Session_get_pset_info(handle session, const char* name, handle* info);
int PMPI_Session_get_pset_info(handle session, const char* name, handle* info) {
  int (*call)(handle, const char*, handle*);
  find_native("PMPI_Session_get_pset_info", &call);
  return call(session, native_name(name), info);
}
WITH_TOOLS(Session_get_pset_info, (handle session, const char* name, handle* info),
           (session, name, info))

EXPORTED int PMPI_Group_from_session_pset(handle session, const char* name, handle* group);
int PMPI_Group_from_session_pset(handle session, const char* name, handle* group) {
  int (*call)(handle, const char*, handle*);
  find_native("PMPI_Group_from_session_pset", &call);
  return call(session, native_name(name), group);
}
WITH_TOOLS(Group_from_session_pset, (handle session, const char* name, handle* group),
           (session, name, group))

/* Open MPI 5 has from its launcher that the program is isthmusd; `isthmusd exec` sets the variables
 * that older versions read. */
static void name_the_program(void) {
  int (*set)(handle, const char*, const char*);
  void* info = dlsym(RTLD_DEFAULT, "ompi_mpi_info_env"); /* MPI_INFO_ENV */
  const char* const command = getenv("OMPI_COMMAND");
  const char* const arguments = getenv("OMPI_ARGV");
  if (!info) info = isthmus_next("ompi_mpi_info_env", libraries);
  if (!info || !command || own_count == 0) return;
  find_native("PMPI_Info_set", &set);
  set(info, "command", command);
  set(info, "argv", arguments ? arguments : command); /* as without arguments natively */
}

EXPORTED int PMPI_Init(int* argc, char*** argv);
int PMPI_Init(int* argc, char*** argv) {
  int (*call)(int*, char***);
  find_native("PMPI_Init", &call);
  const int code = call(argc, argv);
  if (code == 0) name_the_program();
  return code;
}
WITH_TOOLS(Init, (int* argc, char*** argv), (argc, argv))

EXPORTED int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int (*call)(int*, char***, int, int*);
  find_native("PMPI_Init_thread", &call);
  const int code = call(argc, argv, required, provided);
  if (code == 0) name_the_program();
  return code;
}
WITH_TOOLS(Init_thread, (int* argc, char*** argv, int required, int* provided),
           (argc, argv, required, provided))

/* The name of this library in a list separated by colons or spaces; its own variable has the
 * name. */
static void take_out_of(char* list, const char* mine) {
  char* at = strstr(list, mine);
  if (!at) return;
  char* end = at + strlen(mine);
  memmove(at, end, strlen(end) + 1);
  for (size_t last = strlen(list); last > 0 && list[last - 1] == ':';) list[--last] = 0;
}

static void add_set(const char* kind, const char* name, size_t length) {
  if (own_count == most_sets) return;
  snprintf(own_sets[own_count++], sizeof *own_sets, "isthmus://%s/%.*s", kind, (int)length, name);
}

/* Reads "NAME=CLUSTER;NAME=CLUSTER", the outermost first. All of these grids have this cluster. */
static void add_grids(const char* told) {
  while (told && *told) {
    add_set("grid", told, strcspn(told, "=;"));
    told += strcspn(told, ";");
    told += *told == ';';
  }
}

/* The variables of `isthmusd exec` are for its MPI program, not for that program's children. */
__attribute__((constructor)) static void begin(void) {
  char path[PATH_MAX];
  Dl_info own;
  const char* mine = getenv("ISTHMUS_STUB");
  const char* cluster = getenv("ISTHMUS_CLUSTER");
  if (!mine || !cluster || !dladdr(own_sets, &own) || strcmp(own.dli_fname, mine) != 0) return;
  add_set("cluster", cluster, strlen(cluster));
  add_grids(getenv("ISTHMUS_GRIDS"));
  if (!isthmus_find_loaded(libraries, path, sizeof path)) return; /* a shell, or Python */
  char* preload = getenv("LD_PRELOAD");
  if (preload) take_out_of(preload, mine);
  if (preload && !*preload) unsetenv("LD_PRELOAD");
  unsetenv("ISTHMUS_STUB");
  unsetenv("ISTHMUS_LIBMPI");
  unsetenv("ISTHMUS_GRIDS");
}
