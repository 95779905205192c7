/* A host without room for threads, as seen by one rank: pthread_create is the program's own.
 *   refuse RANK: Isthmus gets no thread there
 *   die RANK: the rank is killed when its MPI library or Isthmus asks for a thread, in MPI_Init */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* mode = "";

static int is_isthmus(void* caller) {
  Dl_info of;
  if (!dladdr(caller, &of) || !of.dli_fname) return 0;
  return strstr(of.dli_fname, "libisthmus") || strstr(of.dli_fname, "libstdc++");
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT,
                                                                                 "pthread_create");
  if (!strcmp(mode, "die")) {
    sleep(1); /* a watcher looks several times a second */
    raise(SIGKILL);
  }
  if (!strcmp(mode, "refuse") && is_isthmus(__builtin_return_address(0))) return EAGAIN;
  return real(thread, how, run, with);
}

int main(int argc, char** argv) {
  const char* rank = getenv("ISTHMUS_RANK");
  if (argc == 3 && rank && !strcmp(rank, argv[2])) mode = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  puts("joined");
  MPI_Finalize();
  return 0;
}
