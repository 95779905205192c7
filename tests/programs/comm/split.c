/* MPI_Comm_split in odd ways: interleaved, reversed, uneven, undefined, nested, at random. */
#include "check.h"

/* The group that the split of `parent` (world ranks, in order) must give the member with
   `colour`. */
static int expected_side(const int* parent, const int* colours, const int* keys, int count,
                         int colour, int* side) {
  int size = 0;
  for (int i = 0; i < count; ++i) {
    if (colours[i] != colour) continue;
    int place = size++;
    while (place > 0 && keys[side[place - 1]] > keys[i]) {
      side[place] = side[place - 1];
      --place;
    }
    side[place] = i;
  }
  for (int i = 0; i < size; ++i) side[i] = parent[side[i]];
  return size;
}

static MPI_Comm split(MPI_Comm comm, const int* parent, const int* colours, const int* keys,
                      int count, int* side, int* size, const char* what) {
  int rank;
  MPI_Comm result;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(comm, colours[rank], keys[rank], &result);
  if (colours[rank] == MPI_UNDEFINED) {
    CHECK(result == MPI_COMM_NULL, "%s: MPI_UNDEFINED should give MPI_COMM_NULL", what);
    *size = 0;
    return result;
  }
  *size = expected_side(parent, colours, keys, count, colours[rank], side);
  prove(result, side, *size, what);
  return result;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int n = world_size;
  int *world = malloc(sizeof(int) * n), *colours = malloc(sizeof(int) * n),
      *keys = malloc(sizeof(int) * n), *side = malloc(sizeof(int) * n);
  for (int i = 0; i < n; ++i) world[i] = i;
  const char* names[] = {"same colour, equal keys", "reversed",      "odd and even",
                         "thirds reversed",         "pairs",         "alone",
                         "all but rank 0",          "nobody at all", "negative keys"};
  for (int way = 0; way < 9; ++way) {
    for (int i = 0; i < n; ++i) {
      const int c[] = {0, 0, i % 2, i % 3, i / 2, i, i ? 5 : MPI_UNDEFINED, MPI_UNDEFINED, 1 << 30};
      const int k[] = {0, -i, 0, n - i, i % 2 ? 0 : 1, 0, (i * 7) % 5, 0, (i % 2 ? -1 : 1) * i};
      colours[i] = c[way];
      keys[i] = k[way];
    }
    int size;
    MPI_Comm comm = split(MPI_COMM_WORLD, world, colours, keys, n, side, &size, names[way]);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }

  unsigned state = 12345;
  for (int round = 0; round < 20; ++round) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int *members = malloc(sizeof(int) * n), size = n;
    for (int i = 0; i < n; ++i) members[i] = i;
    for (int level = 0; level < 3 && comm != MPI_COMM_NULL; ++level) {
      /* Every world rank draws for all, so that the numbers stay the same everywhere. */
      int chosen[4096], key[4096];
      for (int i = 0; i < n && i < 4096; ++i) {
        chosen[i] = (int)draw(&state, 4) - 1;
        if (chosen[i] < 0) chosen[i] = MPI_UNDEFINED;
        key[i] = (int)draw(&state, 5) - 2;
      }
      for (int i = 0; i < size; ++i) {
        colours[i] = chosen[members[i]];
        keys[i] = key[members[i]];
      }
      int next;
      MPI_Comm part = split(comm, members, colours, keys, size, side, &next, "at random");
      if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
      comm = part;
      size = next;
      for (int i = 0; i < size; ++i) members[i] = side[i];
    }
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    free(members);
    state = 777u * (unsigned)(round + 1); /* ranks that left early are behind */
  }
  free(world), free(colours), free(keys), free(side);
  return finish("split");
}
