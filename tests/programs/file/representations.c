/* Representations of files: external32 of every basic datatype, and what the program registers.
 * ranks: 2 4 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "file.h"

static MPI_File file;
static MPI_Offset place; /* where what comes next begins */
static int state;

static void settle(void) {
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
}

/* Three elements through a view of the type, which has `bytes` in the file. */
static void three(MPI_Datatype type, size_t element, const void* data, int bytes, const char* rep,
                  const char* what) {
  char found[3 * 64];
  MPI_Status status;
  MPI_Aint extent = -1;
  at = what;
  OK(MPI_File_set_view(file, place + 3 * bytes * rank, type, type, rep, MPI_INFO_NULL));
  OK(MPI_File_get_type_extent(file, type, &extent));
  CHECK(extent == bytes, "extent %ld", (long)extent);
  OK(MPI_File_write_all(file, data, 3, type, &status));
  check_count(&status, type, 3, "written");
  settle();
  memset(found, 0, sizeof found);
  OK(MPI_File_read_at_all(file, 0, found, 3, type, &status));
  check_count(&status, type, 3, "read");
  CHECK(memcmp(found, data, 3 * element) == 0, "other data");
  place += 3 * bytes * size;
}

/* The bytes of the first element of the last rank. */
static void bytes_are(int bytes, const unsigned char* expected) {
  unsigned char found[32];
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, place - 3 * bytes, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(memcmp(found, expected, (size_t)bytes) == 0, "other bytes in the file");
}

#define THREE(type, c_type, bytes, ...)                               \
  do {                                                                \
    c_type values_[3];                                                \
    memset(values_, 0, sizeof values_);                               \
    c_type const given_[3] = {__VA_ARGS__};                           \
    for (int i_ = 0; i_ < 3; ++i_) values_[i_] = given_[i_];          \
    three(type, sizeof(c_type), values_, bytes, "external32", #type); \
  } while (0)

static void external32(void) {
  THREE(MPI_CHAR, char, 1, 'a', 2, -3);
  THREE(MPI_SHORT, short, 2, 0x0102, -2, 3);
  bytes_are(2, (const unsigned char[]){1, 2});
  THREE(MPI_INT, int, 4, 0x01020304, -1, rank);
  bytes_are(4, (const unsigned char[]){1, 2, 3, 4});
  THREE(MPI_LONG, long, 4, -2, rank, 2147483647);
  bytes_are(4, (const unsigned char[]){255, 255, 255, 254});
  THREE(MPI_UNSIGNED_LONG, unsigned long, 4, 4000000000UL, rank, 1);
  THREE(MPI_LONG_LONG, long long, 8, 1LL << 40, -1, rank);
  THREE(MPI_FLOAT, float, 4, 1.0F, -2, (float)rank);
  bytes_are(4, (const unsigned char[]){0x3f, 0x80, 0, 0});
  THREE(MPI_DOUBLE, double, 8, 1.5, -2e300, rank);
  THREE(MPI_WCHAR, wchar_t, 2, 0x20ac, L'x', rank);
  THREE(MPI_C_BOOL, bool, 1, true, false, true);
  THREE(MPI_INT64_T, int64_t, 8, (int64_t)1 << 50, -5, rank);
  THREE(MPI_UINT16_T, uint16_t, 2, 65535, 2, 3);
  THREE(MPI_AINT, MPI_Aint, 8, (MPI_Aint)1 << 50, -5, rank);
  THREE(MPI_COUNT, MPI_Count, 8, (MPI_Count)1 << 50, -5, rank);
  THREE(MPI_OFFSET, MPI_Offset, 8, (MPI_Offset)1 << 50, -5, rank);
  THREE(MPI_C_COMPLEX, float complex, 8, 1 + 2 * I, 3, -1);
  bytes_are(8, (const unsigned char[]){0x3f, 0x80, 0, 0, 0x40, 0, 0, 0});
  THREE(MPI_C_DOUBLE_COMPLEX, double complex, 16, 1 + 2 * I, 3, -1);
  long double long_doubles[3] = {1.5L, 1.0L / 3, -2}, found[3];
  MPI_Status status;
  at = "MPI_LONG_DOUBLE";
  OK(MPI_File_set_view(file, place + 48 * rank, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE, "external32",
                       MPI_INFO_NULL));
  OK(MPI_File_write_all(file, long_doubles, 3, MPI_LONG_DOUBLE, &status));
  settle();
  OK(MPI_File_read_at_all(file, 0, found, 3, MPI_LONG_DOUBLE, &status));
  for (int i = 0; i < 3; ++i) CHECK(found[i] == long_doubles[i], "element %d", i);
  place += 48 * size;
  bytes_are(16, (const unsigned char[16]){0x3f, 0xff, 0x80});
}

/* Text: a line of 8 bytes for an int. */
static int extent_of_text(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  CHECK(extra == &state, "the extent function has another state");
  int bytes;
  MPI_Type_size(type, &bytes);
  *extent = type == MPI_INT ? 8 : bytes;
  return MPI_SUCCESS;
}
/* Where item `k` is: MPI_INT, or pairs of ints with a gap. */
static int* item(void* buffer, MPI_Datatype type, MPI_Offset k) {
  if (type == MPI_INT) return (int*)buffer + k;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return (int*)((char*)buffer + k / 2 * extent) + k % 2 * 2;
}
static int write_text(void* buffer, MPI_Datatype type, int count, void* to, MPI_Offset position,
                      void* extra) {
  CHECK(extra == &state, "the conversion function for writing got another state");
  for (int i = 0; i < count; ++i) {
    char line[16];
    snprintf(line, sizeof line, "%7d\n", *item(buffer, type, position + i));
    memcpy((char*)to + 8 * i, line, 8);
  }
  return MPI_SUCCESS;
}
static int read_text(void* buffer, MPI_Datatype type, int count, void* from, MPI_Offset position,
                     void* extra) {
  CHECK(extra == &state, "the function that reads has another state");
  for (int i = 0; i < count; ++i) {
    *item(buffer, type, position + i) = atoi((const char*)from + 8 * i);
  }
  return MPI_SUCCESS;
}
static int fail_to_write(void* buffer, MPI_Datatype type, int count, void* to, MPI_Offset position,
                         void* extra) {
  (void)buffer, (void)type, (void)count, (void)to, (void)position, (void)extra;
  return MPI_ERR_OTHER;
}

static void registering(void) {
  OK(MPI_Register_datarep("text", read_text, write_text, extent_of_text, &state));
  OK(MPI_Register_datarep("failing", read_text, fail_to_write, extent_of_text, &state));
  OK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of_text,
                          &state));
  const int twice = MPI_Register_datarep("text", read_text, write_text, extent_of_text, &state);
  CHECK(class_of(twice) == MPI_ERR_DUP_DATAREP, "a name twice: class %d", class_of(twice));
  const int own = MPI_Register_datarep("native", read_text, write_text, extent_of_text, &state);
  CHECK(class_of(own) == MPI_ERR_DUP_DATAREP, "\"native\": class %d", class_of(own));
  const int without = MPI_Register_datarep("", read_text, write_text, extent_of_text, &state);
  CHECK(class_of(without) == MPI_ERR_ARG, "no name: class %d", class_of(without));
}

static void text(void) {
  const int values[3] = {100 + rank, -7, 5};
  MPI_Status status;
  three(MPI_INT, sizeof(int), values, 8, "text", "text");
  at = "text";
  char expected[16];
  snprintf(expected, sizeof expected, "%7d\n", 100);
  char line[9] = "";
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, place - 24 * size, line, 8, MPI_BYTE, &status));
  CHECK(strcmp(line, expected) == 0, "the file has \"%s\"", line);
  /* To memory with gaps, up to the end of the file. */
  MPI_Datatype pair, pairs;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 16, &pairs);
  MPI_Type_commit(&pairs);
  OK(MPI_File_set_view(file, place - 24, MPI_INT, MPI_INT, "text", MPI_INFO_NULL));
  int found[8];
  memset(found, 255, sizeof found);
  OK(MPI_File_read_at_all(file, 0, found, 2, pairs, &status));
  int elements;
  MPI_Get_elements(&status, MPI_INT, &elements);
  CHECK(elements == 3, "%d elements before the end", elements);
  const int last[8] = {99 + size, -1, -7, -1, 5, -1, -1, -1};
  CHECK(memcmp(found, last, sizeof last) == 0, "%d %d %d", found[0], found[2], found[4]);
  MPI_Type_free(&pair);
  MPI_Type_free(&pairs);

  OK(MPI_File_set_view(file, place, MPI_INT, MPI_INT, "failing", MPI_INFO_NULL));
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Datatype etype, filetype;
  MPI_Offset displacement;
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  CHECK(strcmp(name, "failing") == 0, "the view is \"%s\"", name);
  int code = MPI_File_write_at_all(file, 0, values, 3, MPI_INT, &status);
  CHECK(class_of(code) == MPI_ERR_CONVERSION, "class %d", class_of(code));
  code = MPI_File_write_ordered(file, values, 3, MPI_INT, &status);
  CHECK(class_of(code) == MPI_ERR_CONVERSION, "ordered: class %d", class_of(code));
  code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rank ? "text" : "failing", MPI_INFO_NULL);
  CHECK(class_of(code) == MPI_ERR_NOT_SAME, "two representations: class %d", class_of(code));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  registering();
  for (int share = 0; share < 2 && spans_clusters(MPI_COMM_WORLD); ++share) {
    MPI_Info info = hints(share);
    place = 0;
    OK(MPI_File_open(MPI_COMM_WORLD, fresh_name("representations"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    external32();
    text();
    OK(MPI_File_close(&file));
  }
  return finish("representations");
}
