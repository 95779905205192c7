/* The padding of a long double that has been packed holds nothing of another message.
   ranks: 2 4 */
#include <float.h>
#include <string.h>

#include "../checking.h"

enum { COUNT = 40, VALUE = 10, OLD = 0xAB, HERE = 0x55 };

static int rank, size, mate;
static unsigned char from[COUNT * 128], into[COUNT * 128];

/* Leaves what has been sent in memory that is then free. */
static void send_other_data(size_t bytes) {
  unsigned char *const other = malloc(2 * bytes), *const got = malloc(bytes);
  MPI_Datatype strided;
  MPI_Type_vector((int)bytes / 2, 1, 2, MPI_SHORT, &strided);
  MPI_Type_commit(&strided);
  memset(other, OLD, 2 * bytes);
  for (int i = 0; i < 4; ++i)
    MPI_Sendrecv(other, 1, strided, mate, 0, got, (int)bytes, MPI_BYTE, mate, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Type_free(&strided);
  free(other);
  free(got);
}

/* `floats` in a row, `each` bytes from one to the next. */
static void check_padding(int floats, size_t each, const char* what) {
  for (int i = 0; i < floats; ++i) {
    const unsigned char* const at = into + i * each;
    for (size_t b = VALUE; b < sizeof(long double); ++b)
      CHECK(at[b] == 0 || at[b] == HERE, "%s: byte %zu of value %d is %x", what, b, i, at[b]);
  }
}

static void begin(size_t bytes) {
  send_other_data(bytes);
  memset(from, 0, sizeof from);
  memset(into, HERE, sizeof into);
}

/* Every second of the values goes. */
static void send(MPI_Datatype of, int floats, const char* what) {
  MPI_Datatype strided;
  const size_t bytes = COUNT * (size_t)floats * sizeof(long double);
  MPI_Type_vector(COUNT, 1, 2, of, &strided);
  MPI_Type_commit(&strided);
  begin(bytes);
  MPI_Sendrecv(from, 1, strided, mate, 0, into, COUNT, of, mate, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check_padding(COUNT * floats, sizeof(long double), what);

  begin(bytes);
  unsigned char* const all = malloc((size_t)size * bytes);
  memset(all, HERE, (size_t)size * bytes);
  MPI_Allgather(from, 1, strided, all, COUNT, of, MPI_COMM_WORLD);
  memcpy(into, all + (size_t)mate * bytes, bytes);
  check_padding(COUNT * floats, sizeof(long double), "MPI_Allgather");
  free(all);

  begin(bytes);
  MPI_Win win;
  MPI_Win_create(into, sizeof into, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(from, 1, strided, mate, 0, COUNT, of, win);
  MPI_Win_fence(0, win);
  check_padding(COUNT * floats, sizeof(long double), "MPI_Put");
  MPI_Win_free(&win);
  MPI_Type_free(&strided);
}

struct pair {
  long double value;
  int index;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mate = (rank + size / 2) % size;
  if (spans_clusters(MPI_COMM_WORLD) && LDBL_MANT_DIG == 64) {
    send(MPI_LONG_DOUBLE, 1, "MPI_LONG_DOUBLE");
    send(MPI_C_LONG_DOUBLE_COMPLEX, 2, "MPI_C_LONG_DOUBLE_COMPLEX");
    begin(COUNT * 20);
    MPI_Sendrecv(from, COUNT, MPI_LONG_DOUBLE_INT, mate, 0, into, COUNT, MPI_LONG_DOUBLE_INT, mate,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_padding(COUNT, sizeof(struct pair), "MPI_LONG_DOUBLE_INT");
    MPI_Datatype structure, types[2] = {MPI_INT, MPI_LONG_DOUBLE};
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {16, 0};
    MPI_Type_create_struct(2, lengths, places, types, &structure);
    MPI_Type_commit(&structure);
    begin(COUNT * 20);
    MPI_Sendrecv(from, COUNT, structure, mate, 0, into, COUNT, structure, mate, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(structure, &lower, &extent);
    check_padding(COUNT, (size_t)extent, "a structure");
    MPI_Type_free(&structure);
  }
  MPI_Finalize();
  return 0;
}
