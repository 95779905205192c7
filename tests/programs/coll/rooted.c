/* Barrier, broadcast, gather and scatter: every root, in place and not, datatypes with gaps and
   out of order, blocking and not. ranks: 2 3 5 */
#include "check.h"

static void bcast(MPI_Comm comm, int root, const struct kind* s, const struct kind* r, int count) {
  const struct kind* kind = rank == root ? s : r;
  int* buffer = room(kind, count);
  if (rank == root) fill(buffer, kind, 0, count, root, 0);
  RUN(Bcast, Ibcast, buffer, count, kind->type, root, comm);
  expect(buffer, kind, 0, count, root, 0);
  free(buffer);
}

static void gather(MPI_Comm comm, int root, const struct kind* s, const struct kind* r, int count,
                   int in_place) {
  int* mine = room(s, count);
  int* all = room(r, count * size);
  fill(mine, s, 0, count, rank, root);
  const int placed = in_place && rank == root;
  if (placed) fill(all, r, count * rank, count, rank, root);
  RUN(Gather, Igather, placed ? MPI_IN_PLACE : mine, count, s->type, all, count, r->type, root,
      comm);
  for (int i = 0; i < size && rank == root; ++i) expect(all, r, i * count, count, i, root);
  if (rank != root) expect_untouched(all, r, 0, count * size);
  free(mine);
  free(all);
}

static void scatter(MPI_Comm comm, int root, const struct kind* s, const struct kind* r, int count,
                    int in_place) {
  int* all = room(s, count * size);
  int* mine = room(r, count);
  for (int i = 0; i < size && rank == root; ++i) fill(all, s, i * count, count, root, i);
  const int placed = in_place && rank == root;
  RUN(Scatter, Iscatter, all, count, s->type, placed ? MPI_IN_PLACE : mine, count, r->type, root,
      comm);
  if (placed)
    expect(all, s, rank * count, count, root, rank);
  else
    expect(mine, r, 0, count, root, rank);
  free(mine);
  free(all);
}

/* Blocks in reverse order with an element between them. */
static int place(int counts[], int displacements[], int size, int base) {
  int next = 0;
  for (int i = size; i-- > 0;) {
    counts[i] = uneven(i, base);
    displacements[i] = next;
    next += counts[i] + 1;
  }
  return next;
}

static void gatherv(MPI_Comm comm, int root, const struct kind* s, const struct kind* r, int base,
                    int in_place) {
  int counts[64], places[64];
  const int all_count = place(counts, places, size, base);
  int* mine = room(s, counts[rank]);
  int* all = room(r, all_count);
  fill(mine, s, 0, counts[rank], rank, root);
  const int placed = in_place && rank == root;
  if (placed) fill(all, r, places[rank], counts[rank], rank, root);
  /* Only the root knows counts and displacements. */
  RUN(Gatherv, Igatherv, placed ? MPI_IN_PLACE : mine, counts[rank], s->type,
      rank == root ? all : NULL, rank == root ? counts : NULL, rank == root ? places : NULL,
      r->type, root, comm);
  for (int i = 0; i < size && rank == root; ++i) {
    expect(all, r, places[i], counts[i], i, root);
    expect_untouched(all, r, places[i] + counts[i], 1);
  }
  free(mine);
  free(all);
}

static void scatterv(MPI_Comm comm, int root, const struct kind* s, const struct kind* r, int base,
                     int in_place) {
  int counts[64], places[64];
  const int all_count = place(counts, places, size, base);
  int* all = room(s, all_count);
  int* mine = room(r, counts[rank]);
  for (int i = 0; i < size && rank == root; ++i) fill(all, s, places[i], counts[i], root, i);
  const int placed = in_place && rank == root;
  RUN(Scatterv, Iscatterv, rank == root ? all : NULL, rank == root ? counts : NULL,
      rank == root ? places : NULL, s->type, placed ? MPI_IN_PLACE : mine, counts[rank], r->type,
      root, comm);
  if (!placed) expect(mine, r, 0, counts[rank], root, rank);
  free(mine);
  free(all);
}

static void test(MPI_Comm comm) {
  for (mode = 0; mode < MODES; ++mode) {
    RUN(Barrier, Ibarrier, comm);
    for (int root = 0; root < size; ++root) {
      for (int k = 0; k < KINDS * KINDS; ++k) {
        const struct kind *s = &kinds[k / KINDS], *r = &kinds[k % KINDS];
        for (int count = 0; count < 4; count += 3) {
          with = s->name;
          bcast(comm, root, s, r, count);
          for (int in_place = 0; in_place < 2; ++in_place) {
            with = in_place ? "in place" : s->name;
            gather(comm, root, s, r, count, in_place);
            scatter(comm, root, s, r, count, in_place);
            gatherv(comm, root, s, r, count, in_place);
            scatterv(comm, root, s, r, count, in_place);
          }
        }
      }
    }
    with = "large";
    bcast(comm, size - 1, &kinds[0], &kinds[1], 300000);
    gather(comm, 0, &kinds[1], &kinds[0], 100000, 0);
    scatter(comm, size - 1, &kinds[0], &kinds[0], 100000, 0);
  }
  mode = 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  make_kinds();
  on_communicators(test);
  free_kinds();
  return finish("rooted");
}
