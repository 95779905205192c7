/* A thread of a rank begins with MPI, and the rank forks at each step of that at which memory is
 * allocated. Each child leaves by exit() and ends: nothing of its profile waits for a lock that a
 * thread of the rank held. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_memalign(size_t, size_t);
static __thread int stepping;
static sem_t stepped, go_on;

/* Lets the main thread fork. */
static void step(void) {
  if (!stepping) return;
  sem_post(&stepped);
  sem_wait(&go_on);
}
void* malloc(size_t size) {
  step();
  return __libc_malloc(size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  step();
  return __libc_memalign(alignment, size);
}

static void* begin(void* over) {
  int flag;
  stepping = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  stepping = 0;
  *(int*)over = 1;
  sem_post(&stepped);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, flag, over = 0, children = 0, errors = 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  sem_init(&stepped, 0, 0);
  sem_init(&go_on, 0, 0);
  pthread_create(&thread, NULL, begin, &over);
  for (sem_wait(&stepped); !over; sem_wait(&stepped)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      alarm(10); /* instead of hanging */
      exit(7);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
      fprintf(stderr, "child %d ended with %d\n", children, status);
      errors = 1;
    }
    ++children;
    sem_post(&go_on);
  }
  pthread_join(thread, NULL);
  MPI_Finalize();
  if (children == 0) fprintf(stderr, "no child was forked\n");
  return errors || children == 0;
}
