/* Many small messages that follow each other closely. They arrive in order and whole, and all of
   them leave though their sender makes no further call. ranks: 2 4 */
#include <unistd.h>

#include "p2p.h"

enum { kMessages = 3000, kLongest = 1300, kPatience = 60 };

static MPI_Comm other;
static char data[kMessages][kLongest];

static int size_of(int i) { return i % 50 == 7 ? kLongest : i * 7 % 40; }
static MPI_Comm comm_of(int i) { return i % 11 == 3 ? other : WORLD; }

static void make(int i) {
  for (int k = 0; k < size_of(i); ++k) data[i][k] = (char)(i + k);
}

static void send_all(int to) {
  static MPI_Request requests[kMessages];
  for (int i = 0; i < kMessages; ++i) {
    make(i);
    requests[i] = MPI_REQUEST_NULL;
    if (i % 3 == 0) {
      MPI_Send(data[i], size_of(i), MPI_CHAR, to, i % 5, comm_of(i));
      memset(data[i], -1, kLongest);
    } else {
      MPI_Isend(data[i], size_of(i), MPI_CHAR, to, i % 5, comm_of(i), &requests[i]);
    }
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
}

static void receive_all(int from) {
  static char got[kLongest];
  for (int i = 0; i < kMessages; ++i) {
    MPI_Status status;
    int bytes = -1;
    MPI_Recv(got, kLongest, MPI_CHAR, from, i % 5, comm_of(i), &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    CHECK(bytes == size_of(i), "message %d has %d bytes", i, bytes);
    for (int k = 0; k < bytes; ++k)
      CHECK(got[k] == (char)(i + k), "byte %d of message %d is %d", k, i, got[k]);
  }
}

/* The sender leaves MPI alone until the receiver has made a file. */
static void leave_alone(int to, int burst) {
  char path[] = "/tmp/isthmus-gathered-XXXXXX";
  static MPI_Request requests[100];
  const int file = mkstemp(path);
  CHECK(file >= 0, "there is no file in /tmp");
  close(file);
  MPI_Send(path, sizeof path, MPI_CHAR, to, 6, WORLD);
  for (int i = 0; i < burst; ++i) MPI_Isend(&data[0][i], 1, MPI_CHAR, to, 7, WORLD, &requests[i]);
  int waited = 0;
  for (; access(path, F_OK) == 0 && waited < kPatience * 1000; ++waited) usleep(1000);
  CHECK(waited < kPatience * 1000, "a burst of %d messages has not left by itself", burst);
  MPI_Waitall(burst, requests, MPI_STATUSES_IGNORE);
}

static void receive_alone(int from, int burst) {
  char path[] = "/tmp/isthmus-gathered-XXXXXX", byte;
  MPI_Recv(path, sizeof path, MPI_CHAR, from, 6, WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < burst; ++i) MPI_Recv(&byte, 1, MPI_CHAR, from, 7, WORLD, MPI_STATUS_IGNORE);
  unlink(path);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_dup(WORLD, &other);
  const int half = size / 2;
  const int sends = rank < half;
  const int peer = sends ? rank + half : rank - half;
  for (int round = 0; round < 3; ++round) {
    if (sends) {
      send_all(peer);
      receive_all(peer);
    } else {
      receive_all(peer);
      send_all(peer);
    }
    for (int burst = 1; burst <= 100; burst *= 10) {
      if (sends)
        leave_alone(peer, burst);
      else
        receive_alone(peer, burst);
    }
  }
  MPI_Comm_free(&other);
  return finish("gathered");
}
