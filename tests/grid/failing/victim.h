/* How the cluster fails that a test loses. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static void fail_now(int signal) {
  (void)signal;
  raise(SIGKILL);
}

/* For each rank of the cluster; `dies`: it is the one that is killed. Without a time that happens
 * now, and this does not return. With a time, less than 1 s, it happens later. */
static void fail(int dies, const char* microseconds) {
  if (microseconds == NULL) {
    if (dies) raise(SIGKILL);
    for (;;) pause();
  }
  if (!dies) return;
  const struct itimerval when = {{0, 0}, {0, 1 + atoi(microseconds)}};
  signal(SIGALRM, fail_now);
  setitimer(ITIMER_REAL, &when, NULL);
}
