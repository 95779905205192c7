/* The awaited rank comes late, so that the wait lasts. `here` makes a file just before the call that
   waits, and `late` waits for that file. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
static void here(const char* file) { close(open(file, O_CREAT | O_WRONLY, 0600)); }
static void late(const char* file) {
  while (access(file, F_OK) != 0) usleep(1000);
  usleep(600000);
}
