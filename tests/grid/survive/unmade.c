/* Shrinks while the rank that is alone in its cluster has no native communicators left: all ranks
   have an error, and none waits for ever. When it has some again, so have they. unmade
   unmade LIBRARY OFFSET: it has no native requests left instead. The function of its MPI library at
   OFFSET returns an error, by other code for x86-64. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { MOST = 1 << 16 };
static MPI_Comm filling[MOST];

/* Exchanges the begin of the function with `code`. */
static void exchange(char** function, unsigned char code[6]) {
  const struct link_map* const library = dlopen(function[0], RTLD_NOW | RTLD_NOLOAD);
  unsigned char* const at = (unsigned char*)library->l_addr + strtoul(function[1], NULL, 16);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)at & ~(page - 1);
  unsigned char before[6];
  CHECK(mprotect((void*)begin, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0, "no access");
  memcpy(before, at, sizeof before);
  memcpy(at, code, sizeof before);
  memcpy(code, before, sizeof before);
}

static int shrink(MPI_Comm comm, MPI_Comm* smaller) {
  MPI_Request request;
  int code = isthmus_comm_ishrink(comm, smaller, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char** argv) {
  int rank, size, count = 0, one = 1, sum = 0;
  unsigned char refuse[] = {0xB8, MPI_ERR_OTHER, 0, 0, 0, 0xC3}; /* return MPI_ERR_OTHER */
  MPI_Comm comm, smaller = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int refuses = argc > 2 && rank == size - 1;
  if (refuses) {
    exchange(argv + 1, refuse);
  } else if (rank == size - 1) {
    while (count < MOST && MPI_Comm_dup(MPI_COMM_SELF, &filling[count]) == MPI_SUCCESS) ++count;
    CHECK(count < MOST, "the library has more than %d communicators", count);
  }
  CHECK(shrink(comm, &smaller) != MPI_SUCCESS, "it has been shrunk");
  CHECK(smaller == MPI_COMM_NULL, "there is a communicator");
  if (refuses) exchange(argv + 1, refuse);
  while (count > 0) MPI_Comm_free(&filling[--count]);
  CHECK(shrink(comm, &smaller) == MPI_SUCCESS, "it has not been shrunk");
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, smaller) == MPI_SUCCESS, "no sum");
  if (rank == 0) printf("%d of %d\n", sum, size);
  MPI_Comm_free(&smaller);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
