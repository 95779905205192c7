/* A CUDA driver of the tests' own. No instruction can touch its "device memory", whose pages are
 * protected; the driver copies through an alias. Copies happen when their stream is synchronized.
 * DRIVER_FAILS=1: copies fail. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 64 << 20, INVALID = 1, NO_CONTEXT = 201, ILLEGAL = 700 };
static char *device, *alias;
static size_t used;
static char one_context, programs_own; /* their addresses are contexts */
static __thread void* stack[16] = {&programs_own};
static __thread int top;

struct copy {
  char* to;
  const char* from;
  size_t bytes;
};
struct stream {
  int copies;
  struct copy copy[1 << 16];
};

static void begin(void) {
  if (device) return;
  const int file = memfd_create("device", 0);
  if (ftruncate(file, SIZE)) abort();
  alias = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  device = mmap(NULL, SIZE, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
}
static int inside(uintptr_t at) { return device && at - (uintptr_t)device < SIZE; }
static char* reach(uintptr_t at) { return alias + (at - (uintptr_t)device); }

int cuMemAlloc_v2(uintptr_t* at, size_t bytes) {
  begin();
  if (used + bytes > SIZE) return 2;
  *at = (uintptr_t)device + used;
  used += (bytes + 255) / 256 * 256;
  return 0;
}
int cuMemcpyHtoD_v2(uintptr_t to, const void* from, size_t bytes) {
  memcpy(reach(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, uintptr_t from, size_t bytes) {
  memcpy(to, reach(from), bytes);
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, uintptr_t at) {
  if (!inside(at)) return INVALID;
  switch (attribute) {
    case 1:
      *(void**)value = getenv("DRIVER_POOLS") ? NULL : &one_context;
      return 0;
    case 2:
      *(unsigned*)value = 2;
      return 0;
    case 8:
      *(unsigned*)value = 0;
      return 0;
    case 9:
      *(int*)value = 0;
      return 0;
    default:
      return INVALID;
  }
}
int cuCtxGetCurrent(void** context) {
  *context = stack[top];
  return 0;
}
int cuCtxSetCurrent(void* context) {
  stack[top] = context;
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  if (top == 15) return INVALID;
  stack[++top] = context;
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  if (top == 0) return NO_CONTEXT;
  *context = stack[top--];
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int number) {
  *context = &one_context;
  return number == 0 ? 0 : INVALID;
}
int cuDevicePrimaryCtxRelease_v2(int number) { return number == 0 ? 0 : INVALID; }
int cuDevicePrimaryCtxRelease(int number) { return cuDevicePrimaryCtxRelease_v2(number); }
int cuStreamCreate(void** stream, unsigned flags) {
  *stream = flags == 1 && stack[top] ? calloc(1, sizeof(struct stream)) : NULL;
  return *stream ? 0 : NO_CONTEXT;
}
int cuStreamSynchronize(void* stream) {
  struct stream* const s = stream;
  for (int i = 0; i < s->copies; ++i) memcpy(s->copy[i].to, s->copy[i].from, s->copy[i].bytes);
  s->copies = 0;
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  if (((struct stream*)stream)->copies) abort();
  free(stream);
  return 0;
}
static int add(struct stream* s, char* to, const char* from, size_t bytes) {
  if (getenv("DRIVER_FAILS")) return ILLEGAL;
  if (s->copies == 1 << 16) cuStreamSynchronize(s);
  s->copy[s->copies++] = (struct copy){to, from, bytes};
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t bytes, void* stream) {
  return inside(from) ? add(stream, to, reach(from), bytes) : INVALID;
}
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void* from, size_t bytes, void* stream) {
  return inside(to) ? add(stream, reach(to), from, bytes) : INVALID;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == ILLEGAL ? "an illegal memory access was encountered" : "invalid argument";
  return 0;
}
