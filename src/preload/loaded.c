/* Which libmpi has the program loaded? Its path, by soname, from the dynamic linker's list. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "stub.h"

struct search {
  const char* const* sonames;
  char* path;
  unsigned long size;
};

static int fits(const char* name, const char* pattern) {
  const unsigned long length = strlen(pattern);
  if (length && pattern[length - 1] == '*') return strncmp(name, pattern, length - 1) == 0;
  return strcmp(name, pattern) == 0;
}

static int is_one_of(const char* name, const char* const* sonames) {
  for (; *sonames; ++sonames) {
    if (fits(name, *sonames)) return 1;
  }
  return 0;
}

/* The name that the library gives itself; without one, the last part of its path. */
static const char* soname_of(const struct dl_phdr_info* info) {
  const ElfW(Dyn)* dynamic = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  const char* strings = 0;
  unsigned long soname = 0;
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_STRTAB) strings = (const char*)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SONAME) soname = dynamic->d_un.d_val;
  }
  /* Some C libraries leave addresses here relative to the load address. */
  if (strings && soname && (ElfW(Addr))strings > info->dlpi_addr) return strings + soname;
  const char* slash = strrchr(info->dlpi_name, '/');
  return slash ? slash + 1 : info->dlpi_name;
}

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  if (!info->dlpi_name || !*info->dlpi_name) return 0; /* the program itself */
  if (strlen(info->dlpi_name) >= search->size) return 0;
  if (!is_one_of(soname_of(info), search->sonames)) return 0;
  strcpy(search->path, info->dlpi_name);
  return 1;
}

struct place {
  const char* const* sonames;
  ElfW(Addr) address;
};

static int holds(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const struct place* place = data;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const ElfW(Addr) begin = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || place->address < begin) continue;
    if (place->address - begin >= segment->p_memsz) continue;
    return info->dlpi_name && *info->dlpi_name && is_one_of(soname_of(info), place->sonames) ? 1
                                                                                             : 2;
  }
  return 0;
}

int isthmus_is_in(const char* const* sonames, const void* address) {
  struct place place = {sonames, (ElfW(Addr))address};
  return dl_iterate_phdr(holds, &place) == 1;
}

int isthmus_find_loaded(const char* const* sonames, char* path, unsigned long size) {
  struct search search = {sonames, path, size};
  return dl_iterate_phdr(look, &search);
}

void* isthmus_next(const char* name, const char* const* library) {
  char path[PATH_MAX];
  void* found = dlsym(RTLD_NEXT, name);
  if (!found && isthmus_find_loaded(library, path, sizeof path)) {
    void* loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded) found = dlsym(loaded, name);
  }
  return found;
}
