/* Fills the slots of the entry stub: finds the loaded libmpi, opens the face of its ABI when the
 * process is a rank of a grid, and routes every name.
 *
 *   name   in a grid                                  otherwise
 *   PMPI_X the face's X, else the library's PMPI_X    the library's PMPI_X
 *   MPI_X  a profiling tool's MPI_X, if one is        a tool's, else the library's MPI_X
 *          loaded after us; else as PMPI_X
 *
 * A tool that comes before us in symbol order (in the program, or preloaded first) needs nothing
 * from us: its PMPI_X calls arrive here. */
#define _GNU_SOURCE
#include "stub.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct face_function { /* as in mpi/native/face.hpp */
  const char* name;
  void* function; /* null: native */
};
typedef const struct face_function* face_open_function(void* library,
                                                       char* (*setting)(const char* name));

/* Recursive: opening a library runs constructors, which may call MPI_Initialized. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

void isthmus_die(const char* what, const char* detail) {
  say("isthmus: ");
  say(what);
  say(detail ? detail : "");
  say("\n");
  _exit(1);
}

static void* open_library(const char* const* sonames) {
  char path[PATH_MAX];
  if (!isthmus_find_loaded(sonames, path, sizeof path)) return 0;
  /* Also makes its symbols global: mpi4py loads it locally, but a face needs its data symbols. */
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* The folder of this library, where the faces are, too. */
static void own_folder(char* folder, unsigned long size) {
  Dl_info info;
  folder[0] = 0;
  if (!dladdr((void*)isthmus_slots, &info) || strlen(info.dli_fname) >= size) return;
  strcpy(folder, info.dli_fname);
  char* slash = strrchr(folder, '/');
  if (slash) *slash = 0;
}

static const struct face_function* open_face(void* library) {
  char path[2 * PATH_MAX];
  const char* folder = isthmus_setting("ISTHMUS_LIBDIR");
  if (folder && *folder && strlen(folder) < PATH_MAX) {
    strcpy(path, folder);
  } else {
    own_folder(path, PATH_MAX);
  }
  strcat(path, "/libisthmus-face-");
  strcat(path, isthmus_abi);
  strcat(path, ".so");
  void* face = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!face) isthmus_die("cannot open the part of Isthmus for this MPI library: ", dlerror());
  void* open = dlsym(face, "isthmus_face_open");
  if (!open) isthmus_die("not a part of Isthmus: ", path);
  face_open_function* open_function;
  memcpy(&open_function, &open, sizeof open);
  return open_function(library, isthmus_setting);
}

static int compare(const void* name, const void* entry) {
  return strcmp(name, ((const struct face_function*)entry)->name);
}

/* MPI_X of a profiling tool after us in symbol order: found by name, but not in the library. */
static void* tool_function(const char* name, const void* native) {
  void* next = dlsym(RTLD_NEXT, name);
  if (!next || next == native) return 0;
  Dl_info tool, library;
  if (!dladdr(next, &tool) || !native || !dladdr(native, &library)) return 0;
  if (tool.dli_fbase == library.dli_fbase) return 0;
  const char* slash = strrchr(tool.dli_fname, '/');
  const char* base = slash ? slash + 1 : tool.dli_fname;
  return strncmp(base, "libmpi", 6) == 0 ? 0 : next; /* skips another MPI library */
}

/* The result of filling: the library, and the face's functions when in a grid. */
static struct {
  void* library;
  const struct face_function* face;
  unsigned long face_count;
} found;

/* The face's entry for MPI_X; 0 when it does not know it. */
static const struct face_function* known_to_face(const char* name) {
  return bsearch(name, found.face, found.face_count, sizeof *found.face, compare);
}

/* The target of a name; 0 when the library lacks it (a program made for it never calls it), or the
 * face does not know it. */
static void* route(unsigned index) {
  const char* name = isthmus_names[index];
  const int profiling = name[0] == 'P';
  const char* plain = profiling ? name + 1 : name;
  void* native = dlsym(found.library, name);
  if (!native && profiling) native = dlsym(found.library, plain);
  if (!native) return 0;
  void* tool = profiling ? 0 : tool_function(name, native);
  if (tool) return tool;
  if (!found.face) return native;
  const struct face_function* ours = known_to_face(plain);
  if (!ours) return 0;
  return ours->function ? ours->function : native;
}

static void fill(void) {
  for (unsigned i = 0; i < isthmus_count; ++i) {
    void* target = route(i);
    if (target) __atomic_store_n(&isthmus_slots[i], target, __ATOMIC_RELEASE);
  }
}

/* Finds the library, opens the face and fills the slots; once, under the mutex. */
static void settle(void) {
  static enum { not_yet, filling, filled } state = not_yet;
  if (state != not_yet) return;
  isthmus_take_environment();
  found.library = open_library(isthmus_sonames);
  /* A process outside of a grid may use another MPI. */
  if (!found.library && !isthmus_in_grid()) found.library = open_library(isthmus_other_sonames);
  if (!found.library) {
    isthmus_die(
        "the program called MPI, but has loaded no MPI library of the kind that it was started "
        "for. Say which MPI it is with `isthmus run --mpi openmpi`, `--mpi mpich` or `--mpi "
        "FOLDER`. It was started for: ",
        isthmus_abi);
  }
  /* Constructors of libraries opened here may call MPI: they see the native library. */
  state = filling;
  if (isthmus_in_grid()) {
    const struct face_function* face = open_face(found.library);
    while (face[found.face_count].name) ++found.face_count;
    found.face = face;
  }
  fill();
  state = filled;
}

void* isthmus_resolve(unsigned index) {
  pthread_mutex_lock(&mutex);
  settle();
  void* target = route(index);
  pthread_mutex_unlock(&mutex);
  if (!target) {
    isthmus_die(
        "this function is missing in the MPI library, or newer than the MPI that this Isthmus was "
        "built with (then build Isthmus with the newer mpi.h): ",
        isthmus_names[index]);
  }
  return target;
}

void* isthmus_face_function(const char* name) {
  char path[PATH_MAX];
  if (!isthmus_in_grid() || !isthmus_find_loaded(isthmus_sonames, path, sizeof path)) return 0;
  pthread_mutex_lock(&mutex);
  settle();
  const struct face_function* known = found.face ? known_to_face(name) : 0;
  pthread_mutex_unlock(&mutex);
  return known ? known->function : 0;
}
