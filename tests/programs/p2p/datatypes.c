/* Derived datatypes, near and far, by every way of receiving: with gaps, out of order, resized,
   MPI_BOTTOM, pairs with holes, parts of an element. Types may be freed before use. ranks: 2 4 */
#include "p2p.h"

static void receive(void* buffer, int count, MPI_Datatype* type, int from, int tag, int way,
                    MPI_Status* status) {
  MPI_Request request;
  MPI_Message message;
  const int source = way % 2 ? MPI_ANY_SOURCE : from;
  switch (way / 2) {
    case 0:
      MPI_Recv(buffer, count, *type, source, tag, WORLD, status);
      break;
    case 1:
      MPI_Irecv(buffer, count, *type, source, tag, WORLD, &request);
      MPI_Wait(&request, status);
      break;
    case 2:
      MPI_Mprobe(source, tag, WORLD, &message, status);
      MPI_Mrecv(buffer, count, *type, &message, status);
      break;
    case 3: { /* The type goes while the receive is pending. */
      MPI_Datatype copy;
      MPI_Type_dup(*type, &copy);
      MPI_Irecv(buffer, count, copy, source, tag, WORLD, &request);
      MPI_Type_free(&copy);
      MPI_Wait(&request, status);
      break;
    }
  }
}
enum { kWays = 8 };

/* `size` bytes at each end. After the transfer the receiver's bytes equal the sender's where the
   type map has data. The other bytes are unchanged (packing shows which these are). */
static void transfer(int from, int way, int count, MPI_Datatype type, size_t bytes, size_t origin,
                     const char* what) {
  MPI_Type_commit(&type);
  unsigned char *mine = malloc(bytes), *packed, *expected;
  int size_, position = 0;
  MPI_Pack_size(count, type, WORLD, &size_);
  packed = calloc(1, (size_t)size_ + 1), expected = calloc(1, (size_t)size_ + 1);
  for (size_t i = 0; i < bytes; ++i) mine[i] = (unsigned char)(i * 7 + 1);
  MPI_Pack(mine + origin, count, type, expected, size_, &position, WORLD);
  if (rank == from) {
    MPI_Send(mine + origin, count, type, 0, 8, WORLD);
  } else {
    MPI_Status status;
    unsigned char* got = malloc(bytes);
    memset(got, 0xEE, bytes);
    receive(got + origin, count, &type, from, 8, way, &status);
    check_status(&status, from, 8, count, type, what);
    int at = 0;
    MPI_Pack(got + origin, count, type, packed, size_, &at, WORLD);
    CHECK(at == position && memcmp(packed, expected, (size_t)at) == 0,
          "%s, way %d, from rank %d: the data differ", what, way, from);
    size_t touched = 0;
    int type_size;
    MPI_Type_size(type, &type_size);
    for (size_t i = 0; i < bytes; ++i) touched += got[i] != 0xEE;
    CHECK(touched <= (size_t)(type_size * count), "%s: %zu bytes written for %d of data", what,
          touched, type_size * count);
    free(got);
  }
  free(mine), free(packed), free(expected);
  MPI_Type_free(&type);
}

static void all_types(int from, int way) {
  MPI_Datatype type, inner;
  MPI_Type_vector(5, 2, 3, MPI_INT, &type);
  transfer(from, way, 3, type, 400, 0, "a vector");
  MPI_Type_vector(5, 3, 3, MPI_INT, &type);
  transfer(from, way, 3, type, 400, 0, "a vector without gaps");
  MPI_Type_vector(4, 1, -2, MPI_INT, &type);
  transfer(from, way, 1, type, 400, 200, "a vector that runs backwards");
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){4, 0}, (MPI_Datatype[]){MPI_INT, MPI_INT},
                         &type);
  transfer(from, way, 4, type, 100, 0, "a structure in reverse order");
  MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 8, 24},
                         (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &type);
  transfer(from, way, 5, type, 400, 0, "a structure with gaps");
  MPI_Type_create_subarray(2, (int[]){8, 9}, (int[]){3, 4}, (int[]){2, 5}, MPI_ORDER_C, MPI_INT,
                           &type);
  transfer(from, way, 2, type, 8 * 9 * 4 * 2, 0, "a subarray");
  MPI_Type_create_subarray(2, (int[]){8, 9}, (int[]){3, 9}, (int[]){2, 0}, MPI_ORDER_C, MPI_INT,
                           &type);
  transfer(from, way, 1, type, 8 * 9 * 4, 0, "a subarray of whole rows");
  MPI_Type_create_resized(MPI_INT, -4, 12, &type);
  transfer(from, way, 6, type, 200, 20, "a resized type");
  MPI_Type_indexed(3, (int[]){2, 0, 3}, (int[]){7, 50, 1}, MPI_INT, &type);
  transfer(from, way, 2, type, 200, 0, "an indexed type");
  MPI_Type_contiguous(4, MPI_DOUBLE_INT, &type);
  transfer(from, way, 2, type, 200, 0, "pairs with holes");
  MPI_Type_contiguous(3, MPI_INT, &inner);
  MPI_Type_create_hvector(3, 1, 20, inner, &type);
  MPI_Type_free(&inner);
  transfer(from, way, 2, type, 200, 0, "a nested type whose inner type is freed");
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  int x = 5;
  if (rank == from) {
    MPI_Send(&x, 3, type, 0, 8, WORLD);
  } else {
    MPI_Status status;
    receive(&x, 3, &type, from, 8, way, &status);
    CHECK(x == 5, "a message without data changed the buffer");
  }
  MPI_Type_free(&type);
}

/* Absolute addresses. */
static void bottom(int from, int way) {
  static int a[3], b[3];
  MPI_Datatype type;
  MPI_Aint where[2];
  MPI_Status status;
  MPI_Get_address(a, &where[0]);
  MPI_Get_address(b, &where[1]);
  MPI_Type_create_hindexed(2, (int[]){3, 2}, where, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 3; ++i) a[i] = b[i] = rank == from ? 10 + i : -1;
  if (rank == from) {
    MPI_Send(MPI_BOTTOM, 1, type, 0, 8, WORLD);
  } else {
    receive(MPI_BOTTOM, 1, &type, from, 8, way, &status);
    CHECK(a[0] == 10 && a[2] == 12 && b[0] == 10 && b[1] == 11 && b[2] == -1,
          "MPI_BOTTOM: got %d..%d, %d %d %d", a[0], a[2], b[0], b[1], b[2]);
  }
  MPI_Type_free(&type);
}

/* Fewer basic elements than a whole element. */
static void part(int from, int way) {
  MPI_Datatype type;
  MPI_Status status;
  int data[12];
  MPI_Type_vector(2, 2, 3, MPI_INT, &type); /* 4 ints of 5 */
  MPI_Type_commit(&type);
  for (int i = 0; i < 12; ++i) data[i] = rank == from ? i : -1;
  if (rank == from) {
    MPI_Send(data, 7, MPI_INT, 0, 8, WORLD);
  } else {
    int count = 0, elements = 0;
    receive(data, 2, &type, from, 8, way, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    CHECK(count == MPI_UNDEFINED && elements == 7, "part of an element: count %d, elements %d",
          count, elements);
    static const int expected[12] = {0, 1, -1, 2, 3, 4, 5, -1, 6, -1, -1, -1};
    for (int i = 0; i < 12; ++i)
      CHECK(data[i] == expected[i], "part of an element: place %d holds %d, expected %d", i,
            data[i], expected[i]);
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int from = 1; from < size; ++from) {
    for (int way = 0; way < kWays; ++way)
      if (rank == 0 || rank == from) {
        all_types(from, way);
        bottom(from, way);
        part(from, way);
      }
    all_here(1);
  }
  return finish("datatypes");
}
