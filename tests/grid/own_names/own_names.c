/* A program that has a function for every name that Isthmus uses of other libraries (names.S). Each
 * calls the next function of that name behind the program, so all callers get the right result.
 * Prints how many of them Isthmus's libraries would call, and their names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern const unsigned names_count __attribute__((visibility("hidden")));
extern const char* const own_names[] __attribute__((visibility("hidden")));
extern void* const own_functions[] __attribute__((visibility("hidden")));
extern void* isthmus_slots[] __attribute__((visibility("hidden")));

/* The first call of a name comes here. */
__attribute__((visibility("hidden"))) void* isthmus_resolve(unsigned index);
void* isthmus_resolve(unsigned index) {
  return isthmus_slots[index] = dlsym(RTLD_NEXT, own_names[index]);
}

static int found;

/* Looks for addresses of the program's functions in all that the library can write, or could before
 * it was bound. */
static int look(struct dl_phdr_info* info, size_t size, void* rank) {
  (void)size;
  if (!strstr(info->dlpi_name, "/libisthmus-")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W)) continue;
    const uintptr_t begin = (info->dlpi_addr + segment->p_vaddr + 7) / 8 * 8;
    const uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
    for (uintptr_t at = begin; at + sizeof(void*) <= end; at += sizeof(void*)) {
      for (unsigned k = 0; k < names_count; ++k) {
        if (*(void**)at != own_functions[k]) continue;
        ++found;
        if (*(int*)rank == 0) printf("%s calls the program's %s\n", info->dlpi_name, own_names[k]);
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dl_iterate_phdr(look, &rank);
  MPI_Allreduce(&found, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d names, %d of them called, %d ranks\n", (int)names_count, sum, size);
  MPI_Finalize();
  return 0;
}
