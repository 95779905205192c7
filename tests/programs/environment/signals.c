/* Signals interrupt what waits, a thousand a second, with SA_RESTART and without, from before
 * MPI_Init until after MPI_Finalize. Messages, collectives and files are right, and children of the
 * program are its own. ranks: 2 4 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "../file/file.h"

enum { kBytes = 4 << 20, kRounds = 3 };
static volatile sig_atomic_t ticks, children;
static char *out, *in;

static void tick(int signal) {
  (void)signal;
  ++ticks;
}

static void child_has_ended(int signal) {
  (void)signal;
  while (waitpid(-1, NULL, WNOHANG) > 0) ++children;
}

static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, NULL);
}

static void expect(const char* what, char wanted) {
  for (int i = 0; i < kBytes; ++i) CHECK(in[i] == wanted, "%s: byte %d is %d", what, i, in[i]);
}

static void exchange(char round) {
  const int to = (rank + size / 2) % size, from = (rank - size / 2 + size) % size;
  int sum = 0, one = 1;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  memset(out, round + rank, kBytes);
  MPI_Irecv(in, kBytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kBytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
  if (fork() == 0) _exit(0);
  MPI_Waitall(2, requests, statuses);
  expect("a message", (char)(round + from));
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size, "%d are not %d", sum, size);
}

static void write_and_read(char round) {
  MPI_File file;
  const int code = MPI_File_open(MPI_COMM_WORLD, fresh_name("signals"),
                                 MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                 MPI_INFO_NULL, &file);
  CHECK(code == MPI_SUCCESS, "the file cannot be opened");
  const MPI_Offset mine = (MPI_Offset)rank * kBytes;
  CHECK(MPI_File_write_at_all(file, mine, out, kBytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "the file cannot be written");
  memset(in, 0, kBytes);
  CHECK(MPI_File_read_at_all(file, mine, in, kBytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "the file cannot be read");
  expect("a file", (char)(round + rank));
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  out = malloc(kBytes);
  in = malloc(kBytes);
  handle(SIGALRM, tick, 0);
  handle(SIGCHLD, child_has_ended, 0);
  setitimer(ITIMER_REAL, &often, NULL);
  begin(&argc, &argv);
  for (int flags = 0; flags < 2; ++flags) {
    handle(SIGALRM, tick, flags ? SA_RESTART : 0);
    handle(SIGCHLD, child_has_ended, flags ? SA_RESTART : 0);
    setitimer(ITIMER_REAL, &often, NULL); /* a launcher may have cleared it */
    for (int round = 0; round < kRounds; ++round) exchange((char)(round + 1));
    write_and_read(kRounds);
  }
  while (children < 2 * kRounds) usleep(1000);
  CHECK(ticks > 10, "only %d signals came", (int)ticks);
  MPI_Finalize();
  setitimer(ITIMER_REAL, &never, NULL);
  return 0;
}
