/* MPI_Pack and MPI_Unpack of a device's memory between clusters whose processors differ. "big":
 * this process claims to hold numbers in the other order. Two ranks, in two clusters. */
#include <byteswap.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "checks.h"

enum { COUNT = 1000, STRIDE = 3, ROOM = 3 * COUNT * sizeof(int), GAP = -5 };
static int big;

void gpu_fail_after(int to_host, size_t bytes); /* device_memory.h */

static int held(int value) { return big ? (int)bswap_32((unsigned)value) : value; }
static void fill(int* device, int first) {
  int host[COUNT * STRIDE];
  for (int i = 0; i < COUNT * STRIDE; ++i) {
    host[i] = i % STRIDE == 0 ? held(first + i / STRIDE) : GAP;
  }
  gpu_write(device, host, sizeof host);
}

static void is_refused(int code) {
  int length = 0, class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  if (class == MPI_ERR_BUFFER && strstr(text, "an illegal memory access")) return;
  printf("rank %d: %s: %s\n", rank, doing, text);
  wrong = 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  big = argc > 1;
  const int other = 1 - rank;
  MPI_Datatype spread;
  MPI_Type_vector(COUNT, 1, STRIDE, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  int* const data = on_device(COUNT * STRIDE, 0);
  int* const in = on_device(COUNT * STRIDE, 0);
  char* const parcel = gpu_alloc(ROOM);
  char* const come = gpu_alloc(ROOM);
  doing = "packed data";
  fill(data, 100 * (rank + 1));
  fill(in, -COUNT);
  int number = held(rank), end = 0, at = 0, found = 0;
  MPI_Pack(&number, 1, MPI_INT, parcel, ROOM, &end, MPI_COMM_WORLD);
  MPI_Pack(data, 1, spread, parcel, ROOM, &end, MPI_COMM_WORLD);
  MPI_Sendrecv(parcel, end, MPI_PACKED, other, 1, come, ROOM, MPI_PACKED, other, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Unpack(come, ROOM, &at, &found, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(come, ROOM, &at, in, 1, spread, MPI_COMM_WORLD);
  differs(-1, at, end);
  differs(-2, found, held(other));
  for (int i = 0; i < COUNT * STRIDE; ++i) {
    expect(in, i, i % STRIDE == 0 ? held(100 * (other + 1) + i / STRIDE) : GAP);
  }
  doing = "packed data when the driver fails";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  gpu_fail_after(0, 0);
  at = end = 0;
  is_refused(MPI_Pack(&number, 1, MPI_INT, parcel, ROOM, &end, MPI_COMM_WORLD));
  MPI_Unpack(come, ROOM, &at, &found, 1, MPI_INT, MPI_COMM_WORLD);
  is_refused(MPI_Unpack(come, ROOM, &at, in, 1, spread, MPI_COMM_WORLD));
  gpu_fail_after(0, SIZE_MAX);
  MPI_Type_free(&spread);
  return ended(NULL);
}
