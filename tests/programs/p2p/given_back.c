/* The sender unmaps its memory as soon as MPI gives it back, by each kind of completion and by
   collectives. The receiver sees what the memory held. Half of the messages wait for their receive.
   ranks: 2 4 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "p2p.h"

/* Around the sizes from which on messages go another way. */
static const int sizes[] = {1, 32767, 32768, 65537, 1 << 20, (1 << 20) + 1, 3 << 20};
enum { kSizes = sizeof sizes / sizeof *sizes, kMost = 3 << 20, kMany = 20000 };

static int other; /* in the other cluster */
static char* got;

static char* mapped(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED, "no memory");
  return memory;
}

static char* filled(int bytes, int value) {
  char* memory = mapped((size_t)bytes);
  memset(memory, value, (size_t)bytes);
  return memory;
}

static void all_are(const char* memory, int bytes, int value, const char* what) {
  for (int i = 0; i < bytes; ++i) {
    CHECK(memory[i] == value, "%s of %d bytes: byte %d is %d", what, bytes, i, memory[i]);
  }
}

enum { kSend, kSsend, kWait, kTest, kFreed, kPersistent, kBuffered, kEnds };
static const char* const names[] = {"MPI_Send",         "MPI_Ssend", "MPI_Wait",         "MPI_Test",
                                    "MPI_Request_free", "MPI_Start", "MPI_Buffer_detach"};

static void send(int bytes, int end) {
  char* memory = filled(bytes, 1 + end);
  const int room = bytes + MPI_BSEND_OVERHEAD;
  char* attached = end == kBuffered ? mapped((size_t)room) : NULL;
  MPI_Request request;
  int over = 0, taken = 0;
  if (end == kSend) MPI_Send(memory, bytes, MPI_BYTE, other, end, WORLD);
  if (end == kSsend) MPI_Ssend(memory, bytes, MPI_BYTE, other, end, WORLD);
  if (end == kWait || end == kTest || end == kFreed) {
    MPI_Isend(memory, bytes, MPI_BYTE, other, end, WORLD, &request);
  }
  if (end == kPersistent) {
    MPI_Send_init(memory, bytes, MPI_BYTE, other, end, WORLD, &request);
    MPI_Start(&request);
  }
  if (end == kBuffered) {
    MPI_Buffer_attach(attached, room);
    MPI_Bsend(memory, bytes, MPI_BYTE, other, end, WORLD);
    munmap(memory, (size_t)bytes);
    MPI_Buffer_detach(&attached, &taken);
    munmap(attached, (size_t)room);
    return;
  }
  if (end == kWait || end == kPersistent) MPI_Wait(&request, MPI_STATUS_IGNORE);
  while (end == kTest && !over) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
  if (end == kPersistent) MPI_Request_free(&request);
  if (end == kFreed) { /* an answer says that it has come */
    MPI_Request_free(&request);
    MPI_Recv(NULL, 0, MPI_BYTE, other, 100, WORLD, MPI_STATUS_IGNORE);
  }
  munmap(memory, (size_t)bytes);
}

static void receive(int bytes, int end, int late) {
  memset(got, 0, (size_t)bytes);
  if (late) MPI_Probe(other, end, WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(got, bytes, MPI_BYTE, other, end, WORLD, MPI_STATUS_IGNORE);
  if (end == kFreed) MPI_Send(NULL, 0, MPI_BYTE, other, 100, WORLD);
  all_are(got, bytes, 1 + end, names[end]);
}

static void collect(int bytes, int how) {
  char* memory = filled(bytes, 1 + rank);
  char* together = calloc((size_t)size, (size_t)bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const int root = how % size;
  if (how % 4 == 0) MPI_Allgather(memory, bytes, MPI_BYTE, together, bytes, MPI_BYTE, WORLD);
  if (how % 4 == 1) MPI_Bcast(memory, bytes, MPI_BYTE, root, WORLD);
  if (how % 4 == 1) memcpy(together + (size_t)root * (size_t)bytes, memory, (size_t)bytes);
  if (how % 4 == 2) MPI_Gather(memory, bytes, MPI_BYTE, together, bytes, MPI_BYTE, root, WORLD);
  if (how % 4 == 3) {
    MPI_Iallgather(memory, bytes, MPI_BYTE, together, bytes, MPI_BYTE, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  munmap(memory, (size_t)bytes);
  for (int i = 0; i < size; ++i) {
    if (how % 4 == 1 ? i != root : how % 4 == 2 && rank != root) continue;
    all_are(together + (size_t)i * (size_t)bytes, bytes, 1 + i, "a collective");
  }
  free(together);
}

static void many(void) {
  MPI_Request* requests = malloc(kMany * sizeof *requests);
  int* words = malloc(kMany * sizeof *words);
  const int sends = rank < size / 2;
  for (int i = 0; i < kMany; ++i) {
    words[i] = sends ? i : -1;
    if (sends) {
      MPI_Isend(&words[i], 1, MPI_INT, other, 7, WORLD, &requests[i]);
    } else {
      MPI_Irecv(&words[i], 1, MPI_INT, other, 7, WORLD, &requests[i]);
    }
  }
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i) CHECK(words[i] == i, "message %d is %d", i, words[i]);
  free(requests);
  free(words);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  other = (rank + size / 2) % size;
  got = malloc(kMost);
  for (int i = 0; i < kSizes; ++i) {
    for (int end = 0; end < kEnds; ++end) {
      for (int late = 0; late < 2; ++late) {
        for (int turn = 0; turn < 2; ++turn) {
          if (turn == (rank < size / 2)) {
            send(sizes[i], end);
          } else {
            receive(sizes[i], end, late);
          }
        }
      }
    }
    for (int how = 0; how < 8; ++how) collect(sizes[i], how);
  }
  many();
  free(got);
  return finish("given_back");
}
