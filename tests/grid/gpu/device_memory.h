/* Device memory that no instruction can touch: its pages are protected, and the driver copies
 * through an alias. Copies happen when their stream is synchronized. DRIVER_FAILS=1: copies fail.
 * The functions gpu_... are for the programs of the tests. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 64 << 20, INVALID = 1, NO_MEMORY = 2, ILLEGAL = 700 };
static char *device, *alias;
static size_t used;
static char* freed; /* memory up to the next 4 KiB */

struct copy {
  char* to;
  const char* from;
  size_t bytes;
};
struct stream {
  int copies;
  struct copy copy[1 << 16];
};

static int inside(const void* at) {
  if (freed && (uintptr_t)at - (uintptr_t)freed < 4096) return 0;
  return device && (uintptr_t)at - (uintptr_t)device < SIZE;
}
static char* reach(const void* at) { return alias + ((uintptr_t)at - (uintptr_t)device); }

void* gpu_alloc(size_t bytes) {
  if (!device) {
    const int file = memfd_create("device", 0);
    if (ftruncate(file, SIZE)) abort();
    alias = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    device = mmap(NULL, SIZE, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
  }
  if (used + bytes > SIZE) abort();
  char* const at = device + used;
  used += (bytes + 255) / 256 * 256;
  return at;
}
void gpu_free(void* at) { freed = at; }
void gpu_write(void* to, const void* from, size_t bytes) { memcpy(reach(to), from, bytes); }
void gpu_read(void* to, const void* from, size_t bytes) { memcpy(to, reach(from), bytes); }
/* The program's state, which calls of others must not change. */
void* gpu_state(void);

static int stream_create(void** stream, int can) {
  *stream = can ? calloc(1, sizeof(struct stream)) : NULL;
  return *stream ? 0 : INVALID;
}
static int stream_synchronize(void* stream) {
  struct stream* const s = stream;
  for (int i = 0; i < s->copies; ++i) memcpy(s->copy[i].to, s->copy[i].from, s->copy[i].bytes);
  s->copies = 0;
  return 0;
}
static int stream_destroy(void* stream) {
  if (((struct stream*)stream)->copies) abort();
  free(stream);
  return 0;
}
static int copy_later(struct stream* s, char* to, const char* from, size_t bytes) {
  if (getenv("DRIVER_FAILS")) return ILLEGAL;
  if (s->copies == 1 << 16) stream_synchronize(s);
  s->copy[s->copies++] = (struct copy){to, from, bytes};
  return 0;
}
static const char* text_of(int error) {
  return error == ILLEGAL ? "an illegal memory access was encountered" : "invalid argument";
}
