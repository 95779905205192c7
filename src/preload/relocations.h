/* Binds references of a loaded library to other targets than the dynamic linker's. Calls only the
 * given functions of other libraries: while a library binds itself, names of the C library may
 * still lead into the program. */
#ifndef ISTHMUS_PRELOAD_RELOCATIONS_H
#define ISTHMUS_PRELOAD_RELOCATIONS_H

#include <link.h>

struct isthmus_object {
  ElfW(Addr) base; /* what is added to the addresses in the file */
  const ElfW(Sym) * symbols;
  const char* names;
  const ElfW(Versym) * versions; /* 0: none */
  const ElfW(Verneed) * needs;
  const ElfW(Rela) * tables[2];
  unsigned long counts[2];
  ElfW(Addr) sealed_begin; /* read-only after binding */
  ElfW(Addr) sealed_end;
};

/* Reads the linker's data of a library whose file is mapped from `header` on. Returns 0 without
 * such data. */
int isthmus_read_object(const ElfW(Ehdr) * header, struct isthmus_object* object);

/* The library file that a reference names with its version; 0 if it names none. */
const char* isthmus_needed_file(const struct isthmus_object* object, const ElfW(Sym) * symbol,
                                const char** version);

/* Returns a reference's new target, which is `now` so far; 0 leaves it. */
typedef ElfW(Addr) isthmus_chooser(const struct isthmus_object* object, const ElfW(Sym) * symbol,
                                   ElfW(Addr) now, void* data);

/* The C library's own. */
struct isthmus_memory {
  int (*protect)(void* begin, unsigned long size, int protection); /* mprotect */
  int (*page_size)(void);                                          /* getpagesize */
};

/* Calls `choose` for each reference of the library to a symbol that it does not define. */
void isthmus_bind_again(const struct isthmus_object* object, isthmus_chooser* choose, void* data,
                        const struct isthmus_memory* memory);

/* As strcmp() == 0. */
int isthmus_same(const char* a, const char* b);

#endif
