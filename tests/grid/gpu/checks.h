/* Arrays of numbers in the memory of a device, and what is expected there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* device_memory.h */
void* gpu_alloc(size_t bytes);
void gpu_free(void* at);
void gpu_write(void* to, const void* from, size_t bytes);
void gpu_read(void* to, const void* from, size_t bytes);
void* gpu_state(void);

static int rank, size, wrong;
static const char* doing = "";

static int* on_device(int count, int first) { /* first, first + 1, ... */
  const size_t bytes = (size_t)count * sizeof(int);
  int* const at = gpu_alloc(bytes);
  int* const host = malloc(bytes);
  for (int i = 0; i < count; ++i) host[i] = first + i;
  gpu_write(at, host, bytes);
  free(host);
  return at;
}
static void differs(int at, int found, int value) {
  if (found == value) return;
  printf("rank %d: %s: element %d is %d in place of %d\n", rank, doing, at, found, value);
  wrong = 1;
}
static void expect(const int* device, int at, int value) {
  int found;
  gpu_read(&found, device + at, sizeof found);
  differs(at, found, value);
}
static void expect_run(const int* device, int count, int first) {
  for (int i = 0; i<count; i += count> 100 ? count / 7 : 1) expect(device, i, first + i);
  expect(device, count - 1, first + count - 1);
}

/* The end of the program. `before` is its gpu_state() at the beginning, which calls that do not
   fail leave as it is; or NULL (never a state of CUDA or HIP). */
static inline int ended(const void* before) {
  if (before && !getenv("DRIVER_FAILS") && gpu_state() != before) {
    printf("rank %d: the program's device, context or last error is another one\n", rank);
    wrong = 1;
  }
  if (wrong) printf("rank %d: wrong\n", rank);
  MPI_Finalize();
  return wrong;
}
