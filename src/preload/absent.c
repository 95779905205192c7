/* Hides from the dynamic linker the names that this stub exports and the MPI library lacks.
 * Libraries have the standard's versions in parts (Intel MPI 2021.9 has MPI_Allgather_c and no
 * MPI_Allgatherv_c; 2026-11). Code that checks if a function exists (mpi4py, by weak symbols) must
 * find the same as natively. This works for libraries loaded from now on: one linked to MPI itself
 * has looked before. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub.h"

/* A file in memory, whose contents are not trusted. */
struct file {
  const char* bytes;
  unsigned long size;
};

static const void* at(const struct file* file, unsigned long offset, unsigned long size,
                      unsigned long alignment) {
  if (offset > file->size || file->size - offset < size || offset % alignment != 0) return 0;
  return file->bytes + offset;
}

static struct file map_file(const char* path) {
  struct file file = {0, 0};
  struct stat about;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    void* bytes = mmap(0, (unsigned long)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
      file.bytes = bytes;
      file.size = (unsigned long)about.st_size;
    }
  }
  close(fd);
  return file;
}

static int compare(const void* name, const void* entry) {
  return strcmp(name, *(const char* const*)entry);
}

/* The place of a name among those of the stub, or -1. */
static long index_of(const char* name) {
  if (*name != 'M' && *name != 'P') return -1;
  const char* const* found =
      bsearch(name, isthmus_names, isthmus_count, sizeof *isthmus_names, compare);
  return found ? found - isthmus_names : -1;
}

/* Marks those of the stub's names that the table defines; returns how many. */
static unsigned mark(const struct file* file, const ElfW(Shdr) * table, const ElfW(Shdr) * texts,
                     char* has) {
  const char* names = at(file, texts->sh_offset, texts->sh_size, 1);
  if (!names || texts->sh_size == 0 || names[texts->sh_size - 1] != 0) return 0;
  const unsigned long count = table->sh_size / sizeof(ElfW(Sym));
  const ElfW(Sym)* symbols =
      at(file, table->sh_offset, count * sizeof *symbols, _Alignof(ElfW(Sym)));
  unsigned marked = 0;
  for (unsigned long i = 0; symbols && i < count; ++i) {
    if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= texts->sh_size) continue;
    const long index = index_of(names + symbols[i].st_name);
    if (index < 0 || has[index]) continue;
    has[index] = 1;
    ++marked;
  }
  return marked;
}

/* Marks those of the stub's names that the library has; returns how many. */
static unsigned look_into(const struct file* file, char* has) {
  const ElfW(Ehdr)* header = at(file, 0, sizeof *header, _Alignof(ElfW(Ehdr)));
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)) return 0;
  const ElfW(Shdr)* sections =
      at(file, header->e_shoff, (unsigned long)header->e_shnum * sizeof *sections,
         _Alignof(ElfW(Shdr)));
  for (unsigned i = 0; sections && i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= header->e_shnum) continue;
    return mark(file, &sections[i], &sections[sections[i].sh_link], has);
  }
  return 0;
}

/* This library's own table, as the dynamic linker uses it. */
/* Of a hash table. */
#if defined(__s390x__)
typedef ElfW(Xword) hash_word;
#else
typedef ElfW(Word) hash_word;
#endif

struct own {
  ElfW(Sym) * symbols;
  const char* names;
  unsigned long count;
};

static int find_own(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct own* own = data;
  const ElfW(Dyn)* dynamic = 0;
  int ours = 0;
  const ElfW(Addr) here = (ElfW(Addr))isthmus_names;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const ElfW(Addr) begin = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && here >= begin && here - begin < segment->p_memsz) ours = 1;
    if (segment->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn)*)begin;
  }
  if (!ours) return 0;
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
    /* Some C libraries leave addresses here relative to the load address. */
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    const ElfW(Addr) address = value > info->dlpi_addr ? value : info->dlpi_addr + value;
    if (dynamic->d_tag == DT_SYMTAB) own->symbols = (ElfW(Sym)*)address;
    if (dynamic->d_tag == DT_STRTAB) own->names = (const char*)address;
    if (dynamic->d_tag == DT_HASH) own->count = ((const hash_word*)address)[1];
  }
  return 1;
}

static void hide(const struct own* own, const char* has) {
  const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
  const unsigned long begin = (unsigned long)own->symbols / page * page;
  const unsigned long size = (unsigned long)(own->symbols + own->count) - begin;
  if (mprotect((void*)begin, size, PROT_READ | PROT_WRITE) != 0) return;
  for (unsigned long i = 0; i < own->count; ++i) {
    ElfW(Sym)* symbol = &own->symbols[i];
    if (symbol->st_shndx == SHN_UNDEF) continue;
    const long index = index_of(own->names + symbol->st_name);
    if (index < 0 || has[index]) continue;
    symbol->st_shndx = SHN_UNDEF;
    symbol->st_value = 0;
  }
  mprotect((void*)begin, size, PROT_READ);
}

/* Before the environment is taken (environment.c), which a later constructor may do. */
__attribute__((constructor(200))) static void hide_what_is_absent(void) {
  char path[PATH_MAX];
  const char* library = isthmus_setting("ISTHMUS_LIBMPI");
  if (isthmus_find_loaded(isthmus_sonames, path, sizeof path)) library = path;
  if (!library) return;
  const struct file file = map_file(library);
  char* has = file.bytes ? calloc(isthmus_count, 1) : 0;
  struct own own = {0, 0, 0};
  if (has && look_into(&file, has) > 0 && dl_iterate_phdr(find_own, &own) && own.symbols &&
      own.names && own.count > 0) {
    hide(&own, has);
  }
  free(has);
  if (file.bytes) munmap((void*)file.bytes, file.size);
}
