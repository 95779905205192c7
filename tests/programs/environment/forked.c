/* A rank starts processes in every way while messages are under way. A child has none of Isthmus's
 * threads: it ends however it likes, and the rank's messages stay right.
 * MPICH 5.0 has a native bug: a child that leaves by exit() tells the launcher that the rank has
 * ended, and SIGPIPE ends both. ranks: 2 4 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
enum { kBytes = 1 << 20 };
static int errors;
static char out[kBytes], in[kBytes];

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
#define LEAVE _exit
#else
#define LEAVE exit
#endif

static void by_exit(void) { LEAVE(7); }
static void by_quick_exit(void) { _exit(7); }
static void by_exec(void) {
  execl("/bin/sh", "sh", "-c", "exit 7", (char*)0);
  _exit(1);
}
static void by_abort(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGABRT, SIG_DFL); /* the native library may have a handler that prints */
  abort();
}
static void by_a_child_of_its_own(void) {
  const pid_t child = fork();
  int status = -1;
  if (child == 0) LEAVE(0);
  if (waitpid(child, &status, 0) != child) LEAVE(1);
  LEAVE(status == 0 ? 7 : 1);
}
static void as_a_daemon(void) {
  if (fork() == 0) {
    setsid();
    LEAVE(0);
  }
  LEAVE(7);
}

static void expect(const char* what, int wanted, int status) {
  const int got = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (status != -1 && got == wanted) return;
  fprintf(stderr, "%s: the child ended with %d, not %d\n", what, got, wanted);
  errors = 1;
}

static void in_a_child(const char* what, void (*body)(void), int wanted) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) body();
  if (waitpid(child, &status, 0) != child) status = -1;
  expect(what, wanted, status);
}

static void* in_a_thread(void* unused) {
  in_a_child("fork in a thread, exit", by_exit, 7);
  return unused;
}

static void start_children(void) {
  in_a_child("exit", by_exit, 7);
  in_a_child("_exit", by_quick_exit, 7);
  in_a_child("exec", by_exec, 7);
  in_a_child("abort", by_abort, 128 + 6);
  in_a_child("a child of its own", by_a_child_of_its_own, 7);
  in_a_child("a daemon", as_a_daemon, 7);
  expect("system", 7, system("exit 7"));
  FILE* const pipe = popen("echo said; exit 7", "r");
  char said[16] = "";
  if (!pipe || !fgets(said, sizeof said, pipe) || strcmp(said, "said\n") != 0) errors = 1;
  if (pipe) expect("popen", 7, pclose(pipe));
  pid_t child;
  char* const words[] = {"sh", "-c", "exit 7", NULL};
  int status = -1;
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0) waitpid(child, &status, 0);
  expect("posix_spawn", 7, status);
  pthread_t thread;
  if (pthread_create(&thread, NULL, in_a_thread, NULL) == 0) pthread_join(thread, NULL);
}

/* Runs at the rank's exit, and at that of each child that leaves by exit(). */
static void at_exit(void) { fflush(stdout); }

int main(int argc, char** argv) {
  int rank, size;
  atexit(at_exit);
  start_children();
  MPI_Init(&argc, &argv);
  atexit(at_exit);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int to = (rank + size / 2) % size, from = (rank - size / 2 + size) % size;
  MPI_Request requests[3];
  memset(out, rank + 1, sizeof out);
  int sum = 0, one = 1;
  MPI_Irecv(in, kBytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kBytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  start_children();
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kBytes; ++i) {
    if (in[i] != (char)(from + 1)) errors = 1;
  }
  if (sum != size) errors = 1;
  start_children();
  MPI_Finalize();
  start_children();
  if (errors) fprintf(stderr, "rank %d: wrong\n", rank);
  return errors;
}
