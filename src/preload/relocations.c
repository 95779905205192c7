#define _GNU_SOURCE
#include "relocations.h"

#include <elf.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum { slot_type = R_X86_64_JUMP_SLOT, data_type = R_X86_64_GLOB_DAT, plain_type = R_X86_64_64 };
#elif defined(__aarch64__)
enum {
  slot_type = R_AARCH64_JUMP_SLOT,
  data_type = R_AARCH64_GLOB_DAT,
  plain_type = R_AARCH64_ABS64
};
#elif defined(__s390x__)
enum { slot_type = R_390_JMP_SLOT, data_type = R_390_GLOB_DAT, plain_type = R_390_64 };
#endif

int isthmus_same(const char* a, const char* b) {
  while (*a && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/* Some C libraries leave addresses relative to the load address. */
static const void* place(const struct isthmus_object* object, ElfW(Addr) value) {
  return (const void*)(value > object->base ? value : object->base + value);
}

int isthmus_read_object(const ElfW(Ehdr) * header, struct isthmus_object* object) {
  static const struct isthmus_object nothing;
  const unsigned char* mark = header->e_ident;
  if (mark[0] != ELFMAG0 || mark[1] != ELFMAG1 || mark[2] != ELFMAG2 || mark[3] != ELFMAG3)
    return 0;
  *object = nothing;
  const ElfW(Phdr)* segments = (const ElfW(Phdr)*)((const char*)header + header->e_phoff);
  const ElfW(Phdr)* dynamic_segment = 0;
  const ElfW(Phdr)* sealed = 0;
  int has_base = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD && !has_base) {
      has_base = 1;
      object->base = (ElfW(Addr))header - segments[i].p_vaddr + segments[i].p_offset;
    }
    if (segments[i].p_type == PT_DYNAMIC) dynamic_segment = &segments[i];
    if (segments[i].p_type == PT_GNU_RELRO) sealed = &segments[i];
  }
  if (!has_base || !dynamic_segment) return 0;
  if (sealed) {
    object->sealed_begin = object->base + sealed->p_vaddr;
    object->sealed_end = object->sealed_begin + sealed->p_memsz;
  }
  const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(object->base + dynamic_segment->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        object->symbols = place(object, value);
        break;
      case DT_STRTAB:
        object->names = place(object, value);
        break;
      case DT_VERSYM:
        object->versions = place(object, value);
        break;
      case DT_VERNEED:
        object->needs = place(object, value);
        break;
      case DT_RELA:
        object->tables[0] = place(object, value);
        break;
      case DT_RELASZ:
        object->counts[0] = value / sizeof(ElfW(Rela));
        break;
      case DT_JMPREL:
        object->tables[1] = place(object, value);
        break;
      case DT_PLTRELSZ:
        object->counts[1] = value / sizeof(ElfW(Rela));
        break;
      default:
        break;
    }
  }
  return object->symbols && object->names;
}

const char* isthmus_needed_file(const struct isthmus_object* object, const ElfW(Sym) * symbol,
                                const char** version) {
  if (!object->versions || !object->needs) return 0;
  const unsigned wanted = object->versions[symbol - object->symbols] & 0x7fff;
  const ElfW(Verneed)* need = object->needs;
  for (;;) {
    const ElfW(Vernaux)* of = (const ElfW(Vernaux)*)((const char*)need + need->vn_aux);
    for (unsigned i = 0; i < need->vn_cnt; ++i) {
      if ((of->vna_other & 0x7fff) == wanted) {
        *version = object->names + of->vna_name;
        return object->names + need->vn_file;
      }
      of = (const ElfW(Vernaux)*)((const char*)of + of->vna_next);
    }
    if (need->vn_next == 0) return 0;
    need = (const ElfW(Verneed)*)((const char*)need + need->vn_next);
  }
}

void isthmus_bind_again(const struct isthmus_object* object, isthmus_chooser* choose, void* data,
                        const struct isthmus_memory* memory) {
  const ElfW(Addr) within = ~((ElfW(Addr))memory->page_size() - 1);
  void* const sealed = (void*)(object->sealed_begin & within);
  const unsigned long size = (object->sealed_end & within) - (object->sealed_begin & within);
  int open = 0;
  for (int table = 0; table < 2; ++table) {
    for (unsigned long i = 0; i < object->counts[table]; ++i) {
      const ElfW(Rela)* at = &object->tables[table][i];
      const unsigned type = ELF64_R_TYPE(at->r_info);
      if (type != slot_type && type != data_type && type != plain_type) continue;
      const ElfW(Sym)* symbol = &object->symbols[ELF64_R_SYM(at->r_info)];
      if (symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0) continue;
      ElfW(Addr)* slot = (ElfW(Addr)*)(object->base + at->r_offset);
      const ElfW(Addr) more = type == plain_type ? (ElfW(Addr))at->r_addend : 0;
      const ElfW(Addr) chosen = choose(object, symbol, *slot - more, data);
      if (!chosen || chosen + more == *slot) continue;
      if (!open && (ElfW(Addr))slot - (ElfW(Addr))sealed < size) {
        if (memory->protect(sealed, size, PROT_READ | PROT_WRITE) != 0) return;
        open = 1;
      }
      __atomic_store_n(slot, chosen + more, __ATOMIC_RELEASE);
    }
  }
  if (open) memory->protect(sealed, size, PROT_READ);
}
