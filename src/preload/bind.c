/* Binds this library's references to other libraries directly to those. The dynamic linker looks
 * through the program first: a program's own function named sendmsg, or HMAC, would be called
 * instead of the C library's or OpenSSL's. Natively such a program works, so it must work over a
 * grid, too.
 *
 * Runs before any other code of the library, in the stubs and in the faces. It leaves three kinds
 * as they are: libraries that are preloaded before the stub, sanitizers, and functions that a
 * program may replace for all libraries (`shared`). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>

#include "relocations.h"

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* One allocator serves a process: one library may free what another allocates. Tools and allocators
 * count threads by pthread_create. The last four are called here, before anything is bound. */
static const char* const shared[] = {"malloc",
                                     "calloc",
                                     "realloc",
                                     "reallocarray",
                                     "free",
                                     "aligned_alloc",
                                     "memalign",
                                     "posix_memalign",
                                     "valloc",
                                     "pvalloc",
                                     "malloc_usable_size",
                                     "pthread_create",
                                     "dladdr1",
                                     "dlopen",
                                     "dlsym",
                                     "dlvsym"};

static int is_shared(const char* name) {
  for (unsigned i = 0; i < sizeof shared / sizeof *shared; ++i) {
    if (isthmus_same(name, shared[i])) return 1;
  }
  return 0;
}

/* Sanitizers have each function that they replace under these names, too. */
static int is_of_sanitizer(const char* name) {
  static const char* const leads[] = {"__interceptor_", "___interceptor_"};
  for (unsigned i = 0; i < sizeof leads / sizeof *leads; ++i) {
    char whole[96];
    unsigned length = 0;
    for (const char* from = leads[i]; *from;) whole[length++] = *from++;
    for (const char* from = name; *from && length < sizeof whole - 1;) whole[length++] = *from++;
    whole[length] = 0;
    if (dlsym(RTLD_DEFAULT, whole)) return 1;
  }
  return 0;
}

static int is_stub(const char* path) {
  const char* base = path;
  for (const char* at = path; *at; ++at) {
    if (*at == '/') base = at + 1;
  }
  for (const char* lead = "libisthmus-"; *lead; ++lead, ++base) {
    if (*base != *lead) return 0;
  }
  return 1;
}

/* The linker's list begins with the program; preloaded libraries follow, with the stub behind
 * others. */
static int is_preloaded(ElfW(Addr) address) {
  Dl_info info;
  struct link_map* map = 0;
  if (!dladdr1((void*)address, &info, (void**)&map, RTLD_DL_LINKMAP) || !map) return 0;
  struct link_map* program = dlopen(0, RTLD_LAZY);
  for (struct link_map* at = program ? program->l_next : 0; at && !is_stub(at->l_name);
       at = at->l_next) {
    if (at == map) return 1;
  }
  return 0;
}

struct libraries {
  void* c; /* the C library */
  const char* file;
  void* handle; /* of `file`, the last that was asked for */
};

/* The linker itself is found only through the C library, which depends on it. */
static void* find_in(struct libraries* libraries, const char* file, const char* name,
                     const char* version) {
  if (libraries->file != file) {
    libraries->file = file;
    libraries->handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  }
  void* const found = libraries->handle ? dlvsym(libraries->handle, name, version) : 0;
  return found ? found : dlvsym(libraries->c, name, version);
}

static ElfW(Addr) own_choice(const struct isthmus_object* object, const ElfW(Sym) * symbol,
                             ElfW(Addr) now, void* data) {
  const char* name = object->names + symbol->st_name;
  const char* version = 0;
  if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || is_shared(name)) return 0;
  const char* file = isthmus_needed_file(object, symbol, &version);
  void* wanted = file ? find_in(data, file, name, version) : 0;
  if (!wanted || (ElfW(Addr))wanted == now) return 0;
  return is_of_sanitizer(name) || is_preloaded(now) ? 0 : (ElfW(Addr))wanted;
}

/* The version in this machine's first C library. */
static void* find_first(void* library, const char* name) {
  void* const found = dlvsym(library, name, "GLIBC_2.17");
  return found ? found : dlvsym(library, name, "GLIBC_2.2.5");
}

static void bind_own(void) {
  struct isthmus_object self;
  struct isthmus_memory memory = {0, 0};
  struct libraries libraries = {dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), 0, 0};
  if (!libraries.c || !isthmus_read_object(&__ehdr_start, &self)) return;
  *(void**)&memory.protect = find_first(libraries.c, "mprotect");
  *(void**)&memory.page_size = find_first(libraries.c, "getpagesize");
  if (memory.protect && memory.page_size)
    isthmus_bind_again(&self, own_choice, &libraries, &memory);
}

/* Linkers sort the functions of this array by the number of their section. */
__attribute__((section(".init_array.00000"), used)) static void (*first)(void) = bind_own;
