/* A CUDA driver of the tests' own. DRIVER_POOLS=1: memory has no context of its own. */
#include "device_memory.h"

enum { NO_CONTEXT = 201 };
static char one_context, programs_own; /* their addresses are contexts */
static __thread void* stack[16] = {&programs_own};
static __thread int top;

void* gpu_state(void) { return stack[top]; }

int cuPointerGetAttribute(void* value, int attribute, uintptr_t at) {
  if (!inside((void*)at)) return INVALID;
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
int cuDevicePrimaryCtxRelease(int number) { return number == 0 ? 0 : INVALID; }
int cuStreamCreate(void** stream, unsigned flags) {
  return stream_create(stream, flags == 1 && stack[top]) ? NO_CONTEXT : 0;
}
int cuStreamSynchronize(void* stream) { return stream_synchronize(stream); }
int cuStreamQuery(void* stream) { return stream_query(stream); }
#ifndef NO_HOST_FUNCTIONS
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return stack[top] ? host_function(stream, function, argument) : NO_CONTEXT;
}
#endif
int cuMemHostRegister_v2(void* at, size_t bytes, unsigned flags) {
  return pin_memory(at, bytes, flags == 1 && stack[top]);
}
int cuMemHostUnregister(void* at) { return unpin_memory(at); }
int cuStreamDestroy_v2(void* stream) { return stream_destroy(stream); }
int cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t bytes, void* stream) {
  return inside((void*)from) ? copy_later(stream, to, reach((void*)from), bytes) : INVALID;
}
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void* from, size_t bytes, void* stream) {
  return inside((void*)to) ? copy_later(stream, reach((void*)to), from, bytes) : INVALID;
}
int cuGetErrorString(int error, const char** text) {
  *text = text_of(error);
  return 0;
}
