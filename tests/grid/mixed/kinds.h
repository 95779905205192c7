/* Data of every kind between clusters whose processors differ. A program's argument says that this
   process only claims to be on another processor: "big" or "little". It then holds its numbers as
   that one would, with binary128 for long double. Two clusters of two ranks. */
#ifndef KINDS_H
#define KINDS_H

#include "../../programs/p2p/p2p.h"

static int claims, big;

static inline void start_kinds(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(size == 4, "this program is for four ranks");
  claims = argc > 1;
  big = claims && strcmp(argv[1], "big") == 0;
#if !defined(__x86_64__)
  CHECK(!claims, "only x86-64 can claim to be something else");
#endif
}

/* ---- numbers as this process holds them ---- */

/* Letters: c char, s short, i int, l long, f float, d double, L long double. */
static inline int bytes_of(char kind) {
  return kind == 'c' ? 1 : kind == 's' ? 2 : kind == 'i' || kind == 'f' ? 4 : kind == 'L' ? 16 : 8;
}

static inline void hold(char kind, int value, char* at) {
  const int bytes = bytes_of(kind);
  char c = (char)value;
  short s = (short)value;
  long l = value;
  float f = (float)(value + 0.25);
  double d = value + 0.125;
  const void* number = kind == 'c'   ? (void*)&c
                       : kind == 's' ? (void*)&s
                       : kind == 'i' ? (void*)&value
                       : kind == 'l' ? (void*)&l
                       : kind == 'f' ? (void*)&f
                                     : (void*)&d;
  char held[16] = {0};
  if (kind == 'L') {
    long double x = value + 0.0625L;
    memcpy(held, &x, sizeof x > 10 && __LDBL_MANT_DIG__ == 64 ? 10 : sizeof x);
#if defined(__x86_64__)
    if (claims) {
      const __float128 quad = x;
      memcpy(held, &quad, sizeof quad);
    }
#endif
  } else {
    memcpy(held, number, (size_t)bytes);
  }
  for (int i = 0; i < bytes; ++i) at[i] = held[big ? bytes - 1 - i : i];
}

/* ---- datatypes ---- */

enum { MOST_PARTS = 40 };

/* The numbers of an element of a datatype, and their places. */
struct kind {
  const char* name;
  MPI_Datatype type;
  int parts;
  struct {
    char kind;
    int place;
  } part[MOST_PARTS];
  int extent;
};

static inline void add_part(struct kind* k, char kind, int place) {
  CHECK(k->parts < MOST_PARTS, "%s has too many parts", k->name);
  k->part[k->parts].kind = kind;
  k->part[k->parts++].place = place;
}

/* `letters` lie one after the other, each aligned to its size. */
static inline struct kind basic_kind(const char* name, MPI_Datatype type, const char* letters) {
  struct kind k = {.name = name, .type = type};
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  k.extent = (int)extent;
  for (int place = 0; *letters; ++letters) {
    const int bytes = bytes_of(*letters);
    place = (place + bytes - 1) / bytes * bytes;
    add_part(&k, *letters, place);
    place += bytes;
  }
  return k;
}

static inline void fill_kind(const struct kind* k, void* buffer, int count, int seed) {
  for (int e = 0; e < count; ++e) {
    for (int p = 0; p < k->parts; ++p) {
      hold(k->part[p].kind, (seed * 31 + e * 7 + p) % 100,
           (char*)buffer + e * k->extent + k->part[p].place);
    }
  }
}

static inline void check_kind(const struct kind* k, const void* buffer, int count, int seed,
                              const char* what) {
  for (int e = 0; e < count; ++e) {
    for (int p = 0; p < k->parts; ++p) {
      char expected[16];
      const char kind = k->part[p].kind;
      hold(kind, (seed * 31 + e * 7 + p) % 100, expected);
      const char* const found = (const char*)buffer + e * k->extent + k->part[p].place;
      /* The rest of x86's long double has no meaning. */
      const int bytes = kind == 'L' && !claims && __LDBL_MANT_DIG__ == 64 ? 10 : bytes_of(kind);
      CHECK(memcmp(found, expected, (size_t)bytes) == 0, "%s of %s: element %d, part %d", what,
            k->name, e, p);
    }
  }
}

static inline struct kind made(struct kind of, const char* name, MPI_Datatype type) {
  of.name = name;
  MPI_Type_commit(&type);
  of.type = type;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  of.extent = (int)extent;
  return of;
}

/* `block` elements of `of`, `count` times, `stride` bytes apart. */
static inline struct kind repeated(struct kind of, int count, int block, int stride) {
  struct kind k = {.name = of.name};
  for (int i = 0; i < count; ++i) {
    for (int b = 0; b < block; ++b) {
      for (int p = 0; p < of.parts; ++p) {
        add_part(&k, of.part[p].kind, i * stride + b * of.extent + of.part[p].place);
      }
    }
  }
  return k;
}

enum { MOST_KINDS = 32 };
static struct kind kinds[MOST_KINDS];
static int number_of_kinds;

static inline struct kind* keep_kind(struct kind k) {
  CHECK(number_of_kinds < MOST_KINDS, "too many kinds");
  kinds[number_of_kinds] = k;
  return &kinds[number_of_kinds++];
}

static inline void make_derived(void) {
  MPI_Datatype type;
  const struct kind number = basic_kind("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, "L");
  MPI_Type_contiguous(3, MPI_LONG_DOUBLE, &type);
  const struct kind three = made(repeated(number, 1, 3, 0), "contiguous", type);
  keep_kind(three);
  MPI_Type_vector(2, 1, 2, three.type, &type);
  keep_kind(made(repeated(three, 2, 1, 2 * three.extent), "a vector of it", type));
  MPI_Type_create_resized(three.type, 0, 128, &type);
  keep_kind(made(three, "resized", type));
  MPI_Type_dup(three.type, &type);
  keep_kind(made(three, "a duplicate", type));

  int lengths[] = {1, 2, 3, 1};
  MPI_Aint places[] = {0, 16, 48, 56};
  MPI_Datatype members[] = {MPI_CHAR, MPI_LONG_DOUBLE, MPI_SHORT, MPI_DOUBLE};
  MPI_Type_create_struct(4, lengths, places, members, &type);
  struct kind k = {.name = "a struct"};
  add_part(&k, 'c', 0);
  for (int i = 0; i < 2; ++i) add_part(&k, 'L', 16 + 16 * i);
  for (int i = 0; i < 3; ++i) add_part(&k, 's', 48 + 2 * i);
  add_part(&k, 'd', 56);
  const struct kind structure = made(k, "a struct", type);
  keep_kind(structure);
  MPI_Type_create_hvector(2, 2, 160, structure.type, &type);
  keep_kind(made(repeated(structure, 2, 2, 160), "a vector of structs", type));

  int blocks[] = {2, 1}, at[] = {3, 0};
  MPI_Type_indexed(2, blocks, at, MPI_LONG_DOUBLE, &type);
  struct kind indexed = {.name = "indexed"};
  for (int i = 0; i < 2; ++i) add_part(&indexed, 'L', 16 * (3 + i));
  add_part(&indexed, 'L', 0);
  keep_kind(made(indexed, "indexed", type));

  int sizes[] = {4, 4}, part[] = {2, 2}, starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_LONG_DOUBLE, &type);
  struct kind array = {.name = "a subarray"};
  for (int i = 0; i < 4; ++i) add_part(&array, 'L', 16 * (4 * (1 + i / 2) + 1 + i % 2));
  keep_kind(made(array, "a subarray", type));
  int whole[] = {4}, how[] = {MPI_DISTRIBUTE_BLOCK}, args[] = {MPI_DISTRIBUTE_DFLT_DARG},
      grid[] = {1};
  MPI_Type_create_darray(1, 0, 1, whole, how, args, grid, MPI_ORDER_C, MPI_LONG_DOUBLE, &type);
  keep_kind(made(repeated(number, 1, 4, 0), "a distributed array", type));
}

/* All kinds, in the same order on all ranks. */
static inline void make_kinds(void) {
  keep_kind(basic_kind("MPI_CHAR", MPI_CHAR, "c"));
  keep_kind(basic_kind("MPI_SHORT", MPI_SHORT, "s"));
  keep_kind(basic_kind("MPI_INT", MPI_INT, "i"));
  keep_kind(basic_kind("MPI_LONG", MPI_LONG, "l"));
  keep_kind(basic_kind("MPI_FLOAT", MPI_FLOAT, "f"));
  keep_kind(basic_kind("MPI_DOUBLE", MPI_DOUBLE, "d"));
  keep_kind(basic_kind("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, "L"));
  keep_kind(basic_kind("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, "dd"));
  keep_kind(basic_kind("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, "LL"));
  keep_kind(basic_kind("MPI_2INT", MPI_2INT, "ii"));
  keep_kind(basic_kind("MPI_SHORT_INT", MPI_SHORT_INT, "si"));
  keep_kind(basic_kind("MPI_DOUBLE_INT", MPI_DOUBLE_INT, "di"));
  keep_kind(basic_kind("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, "Li"));
  make_derived();
}

static inline void free_kinds(void) {
  for (int i = 0; i < number_of_kinds; ++i) {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(kinds[i].type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&kinds[i].type);
  }
}

/* Whether ranks have, or claim, different byte orders. MPI_LONG_DOUBLE_INT has another extent then. */
static inline int orders_differ(void) {
  const int mine = claims ? big : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  int differ = 0;
  for (int r = 0; r < size; ++r) {
    char there = (char)mine;
    MPI_Bcast(&there, 1, MPI_CHAR, r, WORLD);
    differ = differ || there != mine;
  }
  char any = (char)differ;
  for (int r = 0; r < size; ++r) {
    char there = any;
    MPI_Bcast(&there, 1, MPI_CHAR, r, WORLD);
    any = any || there;
  }
  return any;
}
static inline int is_long_double_int(const struct kind* k) {
  return k->type == MPI_LONG_DOUBLE_INT;
}

/* Elements of any kind have room in each block of a buffer. */
enum { ROOM = 2048, BLOCK = 4 };
static inline void clear(void* buffer, size_t bytes) { memset(buffer, 0x5a, bytes); }

#endif
