/* Functions that a program looks up on a handle of the MPI library are those that it is linked to.
 * ranks: 3 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static const char* const names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12",
                                    "libmpi_abi.so.1", "libmpi_abi.so.0"};
typedef int size_function(MPI_Comm, int*);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int errors = 0, linked = 0, handles = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &linked);
  for (int i = 0; i < 5; ++i) {
    void* library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    ++handles;
    for (int profiling = 0; profiling < 2; ++profiling) {
      const char* name = profiling ? "PMPI_Comm_size" : "MPI_Comm_size";
      size_function* by_handle = (size_function*)dlsym(library, name);
      int size = -1;
      if (by_handle) by_handle(MPI_COMM_WORLD, &size);
      if (size != linked) {
        ++errors;
        fprintf(stderr, "%s of %s says %d and not %d\n", name, names[i], size, linked);
      }
    }
    dlerror();
    if (dlsym(library, "MPI_No_such_function") || !dlerror()) {
      ++errors;
      fprintf(stderr, "a function that is not there was found\n");
    }
    dlclose(library);
  }
  if (handles == 0 || linked != 3) {
    ++errors;
    fprintf(stderr, "%d handles, %d ranks\n", handles, linked);
  }
  /* Not of MPI, and by the handles that depend on the caller. */
  if (dlsym(RTLD_DEFAULT, "main_is_not_exported") || !dlsym(RTLD_DEFAULT, "printf") ||
      !dlsym(RTLD_NEXT, "printf")) {
    ++errors;
    fprintf(stderr, "dlsym finds other things than the C library's\n");
  }
  MPI_Finalize();
  return errors != 0;
}
