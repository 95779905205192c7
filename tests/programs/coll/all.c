/* Gather to all and all to all: in place and not, datatypes with gaps and out of order, uneven
   blocks, blocking and not. ranks: 2 3 5 */
#include "check.h"

#define MOST 64

static void allgather(MPI_Comm comm, const struct kind* s, const struct kind* r, int count,
                      int in_place) {
  int* mine = room(s, count);
  int* all = room(r, count * size);
  fill(mine, s, 0, count, rank, 0);
  if (in_place) fill(all, r, rank * count, count, rank, 0);
  RUN(Allgather, Iallgather, in_place ? MPI_IN_PLACE : mine, count, s->type, all, count, r->type,
      comm);
  for (int i = 0; i < size; ++i) expect(all, r, i * count, count, i, 0);
  free(mine);
  free(all);
}

static void allgatherv(MPI_Comm comm, const struct kind* s, const struct kind* r, int base,
                       int in_place) {
  int counts[MOST], places[MOST], next = 0;
  for (int i = size; i-- > 0;) {
    counts[i] = uneven(i, base);
    places[i] = next;
    next += counts[i] + 1;
  }
  int* mine = room(s, counts[rank]);
  int* all = room(r, next);
  fill(mine, s, 0, counts[rank], rank, 0);
  if (in_place) fill(all, r, places[rank], counts[rank], rank, 0);
  RUN(Allgatherv, Iallgatherv, in_place ? MPI_IN_PLACE : mine, counts[rank], s->type, all, counts,
      places, r->type, comm);
  for (int i = 0; i < size; ++i) {
    expect(all, r, places[i], counts[i], i, 0);
    expect_untouched(all, r, places[i] + counts[i], 1);
  }
  free(mine);
  free(all);
}

static void alltoall(MPI_Comm comm, const struct kind* s, const struct kind* r, int count,
                     int in_place) {
  int* out = room(s, count * size);
  int* in = room(r, count * size);
  for (int i = 0; i < size; ++i) {
    fill(out, s, i * count, count, rank, i);
    if (in_place) fill(in, r, i * count, count, rank, i);
  }
  RUN(Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : out, count, s->type, in, count, r->type, comm);
  for (int i = 0; i < size; ++i) expect(in, r, i * count, count, i, rank);
  free(out);
  free(in);
}

/* The data that `from` sends to `to`. It is symmetric on request, as MPI_IN_PLACE needs it. */
static int between(int from, int to, int base, int symmetric) {
  return symmetric ? (from + to) % 3 * base : (from * 3 + to) % 4 * base;
}

static void alltoallv(MPI_Comm comm, const struct kind* s, const struct kind* r, int base,
                      int in_place) {
  int out_counts[MOST], out_places[MOST], in_counts[MOST], in_places[MOST];
  int out_next = 0, in_next = 0;
  for (int i = 0; i < size; ++i) {
    out_counts[i] = between(rank, i, base, in_place);
    in_counts[i] = between(i, rank, base, in_place);
    out_places[i] = out_next;
    out_next += out_counts[i];
    in_places[i] = in_next;
    in_next += in_counts[i] + 1;
  }
  int* out = room(s, out_next);
  int* in = room(r, in_next);
  for (int i = 0; i < size; ++i) {
    fill(out, s, out_places[i], out_counts[i], rank, i);
    if (in_place) fill(in, r, in_places[i], in_counts[i], rank, i);
  }
  RUN(Alltoallv, Ialltoallv, in_place ? MPI_IN_PLACE : out, out_counts, out_places, s->type, in,
      in_counts, in_places, r->type, comm);
  for (int i = 0; i < size; ++i) {
    expect(in, r, in_places[i], in_counts[i], i, rank);
    expect_untouched(in, r, in_places[i] + in_counts[i], 1);
  }
  free(out);
  free(in);
}

/* Every block has a datatype of its own. */
static void alltoallw(MPI_Comm comm, int base, int in_place) {
  int out_counts[MOST], out_places[MOST], in_counts[MOST], in_places[MOST];
  MPI_Datatype out_types[MOST], in_types[MOST];
  const int slot = 4 * base + 1; /* elements of the largest kind for every block */
  const struct kind* widest = &kinds[1];
  int* out = room(widest, slot * size);
  int* in = room(widest, slot * size);
  for (int i = 0; i < size; ++i) {
    const struct kind *s = &kinds[i % KINDS], *r = &kinds[(rank + i) % KINDS];
    const int place = i * slot * widest->extent;
    out_counts[i] = between(rank, i, base, in_place);
    in_counts[i] = between(i, rank, base, in_place);
    out_places[i] = in_places[i] = place * (int)sizeof(int);
    out_types[i] = s->type;
    in_types[i] = r->type;
    fill(out + place, s, 0, out_counts[i], rank, i);
    if (in_place) fill(in + place, r, 0, in_counts[i], rank, i);
  }
  RUN(Alltoallw, Ialltoallw, in_place ? MPI_IN_PLACE : out, out_counts, out_places, out_types, in,
      in_counts, in_places, in_types, comm);
  for (int i = 0; i < size; ++i) {
    const struct kind* r = &kinds[(rank + i) % KINDS];
    expect(in + i * slot * widest->extent, r, 0, in_counts[i], i, rank);
  }
  free(out);
  free(in);
}

static void test(MPI_Comm comm) {
  for (mode = 0; mode < MODES; ++mode) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      for (int count = 0; count < 4; count += 3) {
        for (int k = 0; k < KINDS * KINDS; ++k) {
          const struct kind *s = &kinds[k / KINDS], *r = &kinds[k % KINDS];
          with = in_place ? "in place" : s->name;
          allgather(comm, s, r, count, in_place);
          allgatherv(comm, s, r, count, in_place);
          alltoall(comm, s, r, count, in_place);
          alltoallv(comm, s, r, count, in_place);
        }
        alltoallw(comm, count, in_place);
      }
    }
    with = "large";
    allgather(comm, &kinds[0], &kinds[0], 50000, 0);
    alltoall(comm, &kinds[1], &kinds[0], 50000, 0);
  }
  mode = 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  make_kinds();
  on_communicators(test);
  free_kinds();
  return finish("all");
}
