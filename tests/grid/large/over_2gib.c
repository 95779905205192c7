/* Messages over 2 GiB, one way. They go through a large datatype with names that count in int,
   without and with gaps. They also use the _c names where both libraries have them. */
#include <stdint.h>

#include "../../programs/p2p/p2p.h"

enum { kBlock = 1 << 20, kStride = kBlock + 64, kBlocks = 2049, kSample = 64 * 1024 };

static const size_t kBytes = (size_t)kBlock * kBlocks;
static const size_t kSpan = (size_t)kStride * kBlocks;

/* Samples of the message, by their place in the packed bytes. */
static uint64_t sample(size_t place, int number) {
  return (place + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t)number * 0xC2B2AE3D27D4EB4Fu;
}
/* The place of a packed byte in memory. */
static char* at(char* data, size_t place, int gaps) {
  return data + (gaps ? place / kBlock * kStride + place % kBlock : place);
}

static void set(char* data, int number, int gaps) {
  for (size_t place = 0;; place += kSample) {
    const int last = place + kSample >= kBytes;
    if (last) place = kBytes - sizeof(uint64_t);
    const uint64_t value = sample(place, number);
    memcpy(at(data, place, gaps), &value, sizeof value);
    if (last) return;
  }
}

static void check(char* data, int number, int gaps) {
  for (size_t place = 0;; place += kSample) {
    const int last = place + kSample >= kBytes;
    if (last) place = kBytes - sizeof(uint64_t);
    uint64_t value = 0;
    memcpy(&value, at(data, place, gaps), sizeof value);
    CHECK(value == sample(place, number), "message %d is wrong at byte %zu", number, place);
    if (last) break;
  }
  for (size_t b = 0; gaps && b < kBlocks; ++b)
    for (size_t k = kBlock; k < kStride; ++k)
      CHECK(data[b * kStride + k] == 0x5A, "message %d was written into the gap %zu", number, b);
}

static void check_large(const MPI_Status* status, MPI_Datatype type, int number) {
  int count = -1;
  MPI_Count elements = -1;
  MPI_Get_count(status, type, &count);
  CHECK(count == 1, "message %d: MPI_Get_count says %d", number, count);
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK(count == MPI_UNDEFINED, "message %d: MPI_Get_count of bytes says %d", number, count);
  MPI_Get_elements_x(status, MPI_BYTE, &elements);
  CHECK(elements == (MPI_Count)kBytes, "message %d: MPI_Get_elements_x says %lld", number,
        (long long)elements);
  CHECK(status->MPI_TAG == number && status->MPI_SOURCE == 0, "message %d: source %d, tag %d",
        number, status->MPI_SOURCE, status->MPI_TAG);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int to = size - 1;
  char* data = rank == 0 || rank == to ? malloc(kSpan) : NULL;
  CHECK(data || (rank != 0 && rank != to), "no memory for %zu bytes", kSpan);
  MPI_Datatype whole, gapped;
  MPI_Status status;
  MPI_Type_vector(kBlocks, kBlock, kBlock, MPI_BYTE, &whole);
  MPI_Type_vector(kBlocks, kBlock, kStride, MPI_BYTE, &gapped);
  MPI_Type_commit(&whole);
  MPI_Type_commit(&gapped);

  if (rank == 0) {
    set(data, 1, 0);
    MPI_Send(data, 1, whole, to, 1, WORLD);
    set(data, 2, 1);
    MPI_Send(data, 1, gapped, to, 2, WORLD);
  } else if (rank == to) {
    MPI_Recv(data, 1, whole, 0, 1, WORLD, &status);
    check_large(&status, whole, 1);
    check(data, 1, 0);
    for (size_t b = 0; b < kBlocks; ++b) memset(data + b * kStride, 0x5A, kStride);
    MPI_Recv(data, 1, gapped, MPI_ANY_SOURCE, 2, WORLD, &status);
    check_large(&status, gapped, 2);
    check(data, 2, 1);
  }

  int able = MPI_VERSION >= 4, theirs = 0;
  if (rank == 0) MPI_Send(&able, 1, MPI_INT, to, 8, WORLD);
  if (rank == to) MPI_Send(&able, 1, MPI_INT, 0, 8, WORLD);
  if (rank == 0) MPI_Recv(&theirs, 1, MPI_INT, to, 8, WORLD, MPI_STATUS_IGNORE);
  if (rank == to) MPI_Recv(&theirs, 1, MPI_INT, 0, 8, WORLD, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
  if (able && theirs && rank == 0) {
    set(data, 3, 0);
    MPI_Send_c(data, (MPI_Count)kBytes, MPI_BYTE, to, 3, WORLD);
  } else if (able && theirs && rank == to) {
    MPI_Count count = -1;
    MPI_Request request;
    memset(data, 0, kBytes);
    MPI_Irecv_c(data, (MPI_Count)kBytes, MPI_BYTE, 0, 3, WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    CHECK(count == (MPI_Count)kBytes, "MPI_Get_count_c says %lld", (long long)count);
    check(data, 3, 0);
  }
#endif
  MPI_Type_free(&whole);
  MPI_Type_free(&gapped);
  free(data);
  return finish("over_2gib");
}
