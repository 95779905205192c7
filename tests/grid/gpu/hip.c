/* A HIP of the tests' own: version 6, or 5 with DRIVER_VERSION=5. Its memory is on device 1, while
 * device 0 is the program's. Every error stays until it is asked for, as in HIP. */
#include "device_memory.h"

enum { DEVICE = 1, PROGRAMS_OWN = 0 };
static __thread int current = PROGRAMS_OWN, last_error;

static int kept(int error) {
  if (error) last_error = error;
  return error;
}
static int is_5(void) {
  const char* const version = getenv("DRIVER_VERSION");
  return version && *version == '5';
}

void* gpu_state(void) { return (void*)(intptr_t)(1 + 1000 * current + last_error); } /* not NULL */

int hipRuntimeGetVersion(int* version) {
  *version = is_5() ? 50631061 : 60342134;
  return 0;
}
int hipPointerGetAttribute(void* value, int attribute, const void* at) {
  if (!inside(at)) return kept(INVALID);
  switch (attribute) {
    case 2:
      *(unsigned*)value = is_5() ? 1 : 2;
      return 0;
    case 8:
      *(unsigned*)value = 0;
      return 0;
    case 9:
      *(int*)value = DEVICE;
      return 0;
    default:
      return kept(INVALID);
  }
}
const char* hipGetErrorString(int error) { return text_of(error); }
int hipPeekAtLastError(void) { return last_error; }
int hipGetLastError(void) {
  const int error = last_error;
  last_error = 0;
  return error;
}
int hipGetDevice(int* device_now) {
  *device_now = current;
  return 0;
}
int hipSetDevice(int device_now) {
  current = device_now;
  return 0;
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return kept(stream_create(stream, flags == 1 && current == DEVICE));
}
int hipStreamSynchronize(void* stream) { return stream_synchronize(stream); }
int hipStreamQuery(void* stream) { return kept(stream_query(stream)); }
#ifndef NO_HOST_FUNCTIONS
int hipLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return kept(host_function(stream, function, argument));
}
#endif
int hipHostRegister(void* at, size_t bytes, unsigned flags) {
  return kept(pin_memory(at, bytes, flags == 1));
}
int hipHostUnregister(void* at) { return kept(unpin_memory(at)); }
int hipStreamDestroy(void* stream) { return stream_destroy(stream); }
int hipMemcpyDtoHAsync(void* to, const void* from, size_t bytes, void* stream) {
  return kept(inside(from) ? copy_later(stream, to, reach(from), bytes) : INVALID);
}
int hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes, void* stream) {
  return kept(inside(to) ? copy_later(stream, reach(to), from, bytes) : INVALID);
}
