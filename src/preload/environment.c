/* The variables that `isthmus run` leaves in the environment of a rank are for its program alone.
 * Children of the program are not ranks, and may start MPI jobs of their own. So an MPI program
 * takes the variables out: before main() if it is linked to its MPI library, else with its first
 * MPI call. It also takes them out of the memory that /proc shows, and out of Python's os.environ.
 * Other programs (a shell script, a Python program until it calls MPI) pass them on to their
 * children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stub.h"

static const char* const names[] = {
    "ISTHMUS_SECRET",        "ISTHMUS_WORLD",          "ISTHMUS_FIRST",   "ISTHMUS_STUB",
    "ISTHMUS_LIBDIR",        "ISTHMUS_LIBMPI",         "ISTHMUS_NATIVE",  "ISTHMUS_COLL",
    "ISTHMUS_NETWORK",       "ISTHMUS_STATS",          "ISTHMUS_APPNUM",  "ISTHMUS_PROGRESS",
    "ISTHMUS_TRACE",         "ISTHMUS_TRACE_DIR",      "ISTHMUS_PARENT",  "ISTHMUS_PROFILE",
    "ISTHMUS_TRACE_RECORDS", "ISTHMUS_TRACE_GATHERED", "ISTHMUS_GRIDS",   "ISTHMUS_UNIVERSE",
    "ISTHMUS_REORDER",       "ISTHMUS_REPRODUCIBLE",   "ISTHMUS_SURVIVE", "ISTHMUS_SPARE"};
enum { count = sizeof names / sizeof *names };

static struct {
  int done;
  int is_rank;
  char* values[count];
} taken;

/* "PMI_FD=socket:[4711]", with the open file: the same numbers appear in many jobs. */
static int is_descriptor(const char* name, const char* value, const char* wanted, size_t length) {
  char path[64], target[256];
  if (strcmp(name, "PMI_FD") != 0) return 0;
  snprintf(path, sizeof path, "/proc/self/fd/%.20s", value);
  const ssize_t size = readlink(path, target, sizeof target);
  return size == (ssize_t)length && memcmp(target, wanted, length) == 0;
}

/* Whether the native launcher's variables are those that `isthmusd exec` saw, in the form
 * "NAME=VALUE;NAME=VALUE". A job that is started from within has others. */
static int same_native_rank(void) {
  const char* entry = getenv("ISTHMUS_NATIVE");
  while (entry && *entry) {
    char name[64];
    const char* equals = strchr(entry, '=');
    if (!equals || equals - entry >= (long)sizeof name) return 0;
    memcpy(name, entry, (size_t)(equals - entry));
    name[equals - entry] = 0;
    const size_t length = strcspn(equals + 1, ";");
    const char* value = getenv(name);
    if (!value) return 0;
    const int same = strlen(value) == length && memcmp(value, equals + 1, length) == 0;
    if (!same && !is_descriptor(name, value, equals + 1, length)) return 0;
    entry = equals + 1 + length + (equals[1 + length] == ';');
  }
  return 1;
}

static int index_of(const char* entry) {
  for (int i = 0; i < count; ++i) {
    const size_t length = strlen(names[i]);
    if (strncmp(entry, names[i], length) == 0 && entry[length] == '=') return i;
  }
  return -1;
}

/* Takes the stub out of a list separated by colons or spaces, in place. */
static void remove_entry(char* list, const char* stub) {
  const size_t length = strlen(stub), before = strlen(list);
  char* out = list;
  for (const char* in = list; *in;) {
    const size_t size = strcspn(in, " :");
    const size_t whole = size + (in[size] != 0);
    if (size > 0 && (size != length || memcmp(in, stub, size) != 0)) {
      if (out != list) *out++ = ':';
      memmove(out, in, size);
      out += size;
    }
    in += whole;
  }
  memset(out, 0, before - (size_t)(out - list));
}

static void take_out(char** entry) {
  const size_t size = strlen(*entry);
  const int index = index_of(*entry);
  taken.values[index] = strdup(strchr(*entry, '=') + 1);
  explicit_bzero(*entry, size);
  for (; *entry; ++entry) entry[0] = entry[1];
}

static void take(void) {
  const char* stub = getenv("ISTHMUS_STUB");
  char* preload = getenv("LD_PRELOAD");
  taken.is_rank = getenv("ISTHMUS_WORLD") && same_native_rank();
  if (preload && stub) remove_entry(preload, stub);
  if (preload && !*preload) unsetenv("LD_PRELOAD");
  for (char** entry = environ; entry && *entry;) {
    if (index_of(*entry) >= 0) {
      take_out(entry);
    } else {
      ++entry;
    }
  }
}

/* os.environ is a copy from Python's start. The names are those of `names`. */
static const char python_code[] =
    "exec('''import os, re\n"
    "for name in (\"SECRET\", \"WORLD\", \"FIRST\", \"STUB\", \"LIBDIR\", \"LIBMPI\", \"NATIVE\","
    " \"COLL\", \"NETWORK\", \"STATS\", \"APPNUM\", \"PROGRESS\", \"TRACE\", \"TRACE_DIR\","
    " \"PROFILE\", \"TRACE_RECORDS\", \"TRACE_GATHERED\", \"REORDER\", \"REPRODUCIBLE\","
    " \"SURVIVE\"): "
    "os.environ.pop(\"ISTHMUS_\" + "
    "name, None)\n"
    "rest = [x for x in re.split(\"[ :]\", os.environ.pop(\"LD_PRELOAD\", \"\"))"
    " if x and not os.path.basename(x).startswith(\"libisthmus-\")]\n"
    "if rest: os.environ[\"LD_PRELOAD\"] = \":\".join(rest)\n''', {})\n";

static void* python_function(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static int clean_python(void* unused) {
  (void)unused;
  int (*run)(const char*);
  void* symbol = python_function("PyRun_SimpleString");
  if (!symbol) return 0;
  memcpy(&run, &symbol, sizeof run);
  run(python_code);
  return 0;
}

/* Cleans at once if this thread has Python's lock. Otherwise Python does it as soon as it can:
 * waiting for the lock here might take forever. */
static void have_python_cleaned(void) {
  int (*is_initialized)(void);
  int (*has_lock)(void);
  int (*add_call)(int (*)(void*), void*);
  void* symbols[] = {python_function("Py_IsInitialized"), python_function("PyGILState_Check"),
                     python_function("Py_AddPendingCall")};
  if (!symbols[0] || !symbols[1] || !symbols[2]) return;
  memcpy(&is_initialized, &symbols[0], sizeof is_initialized);
  memcpy(&has_lock, &symbols[1], sizeof has_lock);
  memcpy(&add_call, &symbols[2], sizeof add_call);
  if (!is_initialized()) return;
  if (has_lock()) {
    clean_python(0);
  } else {
    add_call(clean_python, 0);
  }
}

void isthmus_take_environment(void) {
  if (taken.done) return;
  taken.done = 1;
  const int anything = getenv("ISTHMUS_STUB") != 0;
  take();
  if (anything) have_python_cleaned();
}

int isthmus_in_grid(void) {
  return taken.done ? taken.is_rank : getenv("ISTHMUS_WORLD") && same_native_rank();
}

char* isthmus_setting(const char* name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(names[i], name) == 0) return taken.done ? taken.values[i] : getenv(name);
  }
  return getenv(name);
}

__attribute__((constructor)) static void take_for_mpi_programs(void) {
  char path[PATH_MAX];
  if (isthmus_find_loaded(isthmus_sonames, path, sizeof path)) isthmus_take_environment();
}
