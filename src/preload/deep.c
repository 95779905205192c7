/* A library that is opened with RTLD_DEEPBIND looks for names in its own dependencies first. It
 * would find the MPI library's functions in front of the stub's. Julia and MATLAB open all
 * libraries this way. The stub's own names are bound again; all others stay as the program wants
 * them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "relocations.h"
#include "stub.h"

/* The beginning and the end of the stub in memory. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static const void* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : 0;
}

static ElfW(Addr) stub_choice(const struct isthmus_object* object, const ElfW(Sym) * symbol,
                              ElfW(Addr) now, void* stub) {
  (void)now;
  const void* found = isthmus_look_up(stub, object->names + symbol->st_name);
  return found >= (const void*)&__ehdr_start && found < (const void*)_end ? (ElfW(Addr))found : 0;
}

static void bind_to_stub(const struct link_map* map) {
  static const struct isthmus_memory memory = {mprotect, getpagesize};
  struct isthmus_object object;
  Dl_info own;
  const ElfW(Ehdr)* header = file_of(map->l_ld);
  void* stub = dladdr(isthmus_slots, &own) ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : 0;
  if (stub && header && isthmus_read_object(header, &object))
    isthmus_bind_again(&object, stub_choice, stub, &memory);
  if (stub) dlclose(stub);
}

typedef void* dlopen_function(const char*, int);
static dlopen_function* real_dlopen(void) {
  static void* real;
  void* const found = isthmus_of_c_library("dlopen", &real);
  dlopen_function* function;
  memcpy(&function, &found, sizeof function);
  return function;
}

/* A path is the same for all callers. */
static void* open_deep(const char* path, int flags) {
  const struct link_map* last = dlopen(0, RTLD_LAZY);
  while (last && last->l_next) last = last->l_next;
  void* library = real_dlopen()(path, flags);
  for (const struct link_map* at = library && last ? last->l_next : 0; at; at = at->l_next)
    bind_to_stub(at);
  return library;
}

/* The C library's dlopen searches by the place of its caller. So the caller must jump to it, and
 * this only returns the target. */
struct isthmus_jump isthmus_dlopen_jump(const char* name, int flags) {
  struct isthmus_jump jump = {(void*)real_dlopen(), flags};
  if (!(flags & RTLD_DEEPBIND) || !isthmus_in_grid()) return jump;
  if (name && strchr(name, '/')) {
    jump.to = (void*)open_deep;
  } else {
    jump.flags &= ~RTLD_DEEPBIND;
  }
  return jump;
}
