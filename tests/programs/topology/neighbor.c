/* Neighbourhood collectives in every form, over graphs and Cartesian topologies (dimensions of one
   and two positions, periodic or not). Graphs have several edges between the same ranks, and
   messages show which block belongs to which. All communicators are of all ranks: those within a
   cluster are native.
   ranks: 2 3 5 6 8 */
#include <string.h>

#include "../comm/check.h"

#define MAX_DEGREE 64
#define ELEMENTS 4

struct Edges {
  int rank, in, out;
  int sources[MAX_DEGREE], destinations[MAX_DEGREE];
  int source_block[MAX_DEGREE]; /* which of the source's blocks arrives in which of mine */
};

static int value(int rank, int block, int i) { return rank * 10000 + block * 100 + i; }
static int size_of(int rank, int block) { return (rank + block) % 3; }
static int expected(int source, int block, int i) {
  return source == MPI_PROC_NULL ? -1 : value(source, block, i);
}
static void clear(int* data, int count) {
  for (int i = 0; i < count; ++i) data[i] = -1;
}

#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define PERSISTENT 1
#else
#define PERSISTENT 0
#endif
#define LARGE (MPI_VERSION >= 4)
static int spans;             /* the world, several clusters */
static int persistent, large; /* on all ranks: clusters may have different libraries */

#define X(name) name
#define Y(name) name##_small
#define COUNT int
#define PLACE int
#include "neighbor.h"
#undef X
#undef Y
#undef COUNT
#undef PLACE
#if LARGE
#define X_(name) name##_c
#define X(name) X_(name)
#define Y(name) name##_large
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "neighbor.h"
#endif

/* Messages as MPI-4.1 section 8.6 describes them. In Cartesian topologies what leaves in one
   direction comes in from the other. */
static void find_blocks(MPI_Comm comm, int cart, struct Edges* e) {
  MPI_Request requests[2 * MAX_DEGREE];
  int blocks[MAX_DEGREE], n = 0;
  for (int b = 0; b < e->in; ++b)
    MPI_Irecv(&e->source_block[b], 1, MPI_INT, e->sources[b], cart ? b ^ 1 : 0, comm,
              &requests[n++]);
  for (int b = 0; b < e->out; ++b) {
    blocks[b] = b;
    MPI_Isend(&blocks[b], 1, MPI_INT, e->destinations[b], cart ? b : 0, comm, &requests[n++]);
  }
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* Two edges from one rank to another, in a native library that takes the one for the other: Open
   MPI, and MPICH before 5. Collective. */
static int confuses_edges(MPI_Comm comm, const struct Edges* e) {
  int twice = 0, any = 0;
  for (int a = 0; a < e->in; ++a)
    for (int b = 0; b < a; ++b)
      twice |= e->sources[a] != MPI_PROC_NULL && e->sources[a] == e->sources[b];
  MPI_Allreduce(&twice, &any, 1, MPI_INT, MPI_LOR, comm);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000 || defined(OPEN_MPI)
  return any && !spans;
#else
  return 0;
#endif
}

static void check_all(MPI_Comm comm, struct Edges* e, int cart) {
  if (confuses_edges(comm, e)) return;
  MPI_Comm_rank(comm, &e->rank);
  find_blocks(comm, cart, e);
  for (int form = 0; form < (persistent ? 3 : 2); ++form) {
    check_allgather_small(comm, e, form);
    check_alltoall_small(comm, e, form);
#if LARGE
    if (large) check_allgather_large(comm, e, form);
    if (large) check_alltoall_large(comm, e, form);
#endif
  }
}

static void check_cart(int ndims, const int* dims, const int* periods) {
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
  if (cart == MPI_COMM_NULL) return;
  struct Edges e = {.in = 2 * ndims, .out = 2 * ndims};
  for (int d = 0; d < ndims; ++d)
    MPI_Cart_shift(cart, d, 1, &e.sources[2 * d], &e.sources[2 * d + 1]);
  memcpy(e.destinations, e.sources, sizeof e.sources);
  check_all(cart, &e, 1);
  MPI_Comm_free(&cart);
}

static void check_graph(int nodes, const int* index, const int* edges) {
  MPI_Comm graph;
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph);
  if (graph == MPI_COMM_NULL) return;
  struct Edges e = {.rank = world_rank};
  MPI_Graph_neighbors_count(graph, world_rank, &e.in);
  MPI_Graph_neighbors(graph, world_rank, e.in, e.sources);
  e.out = e.in;
  memcpy(e.destinations, e.sources, sizeof e.sources);
  check_all(graph, &e, 0);
  MPI_Comm_free(&graph);
}

static void check_dist_graph(unsigned* state, int edges) {
  int n = 0, from[128], to[128], degrees[128];
  for (int i = 0; i < edges; ++i) {
    const int giver = (int)draw(state, world_size), source = (int)draw(state, world_size),
              destination = (int)draw(state, world_size);
    if (giver != world_rank) continue;
    from[n] = source;
    to[n] = destination;
    degrees[n++] = 1;
  }
  MPI_Comm graph;
  struct Edges e;
  int weighted;
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &graph);
  MPI_Dist_graph_neighbors_count(graph, &e.in, &e.out, &weighted);
  CHECK(e.in <= MAX_DEGREE && e.out <= MAX_DEGREE, "the test has too many edges");
  MPI_Dist_graph_neighbors(graph, e.in, e.sources, MPI_UNWEIGHTED, e.out, e.destinations,
                           MPI_UNWEIGHTED);
  check_all(graph, &e, 0);
  MPI_Comm_free(&graph);
}

/* Two under way at a time, and other collectives between them. */
static void check_outstanding(void) {
  const int period = 1;
  int right[2], mine[2] = {world_rank, world_rank + 100}, got[2][2], sum = 0;
  MPI_Comm ring;
  MPI_Request requests[3];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &period, 0, &ring);
  MPI_Cart_shift(ring, 0, 1, &right[0], &right[1]);
  MPI_Ineighbor_allgather(&mine[0], 1, MPI_INT, got[0], 1, MPI_INT, ring, &requests[0]);
  MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, ring, &requests[1]);
  MPI_Ineighbor_allgather(&mine[1], 1, MPI_INT, got[1], 1, MPI_INT, ring, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < 2; ++k)
    for (int b = 0; b < 2; ++b)
      CHECK(got[k][b] == right[b] + 100 * k, "collective %d has %d from %d", k, got[k][b],
            right[b]);
  CHECK(sum == world_size * (world_size - 1) / 2, "the sum between is %d", sum);
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  spans = spans_clusters(MPI_COMM_WORLD);
  const int have[2] = {PERSISTENT, LARGE};
  int all_have[2];
  MPI_Allreduce(have, all_have, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  persistent = all_have[0];
  large = all_have[1];
  for (int ndims = 1; ndims <= 3; ++ndims)
    for (int wrap = 0; wrap < 1 << ndims; ++wrap) {
      int dims[3] = {0}, periods[3];
      for (int d = 0; d < ndims; ++d) periods[d] = wrap >> d & 1;
      MPI_Dims_create(world_size, ndims, dims);
      check_cart(ndims, dims, periods);
    }

  /* A star whose hub is joined twice to every other rank, and to itself. */
  int *index = malloc(sizeof(int) * world_size), *edges = malloc(sizeof(int) * 5 * world_size),
      count = 0;
  edges[count++] = 0;
  for (int k = 0; k < 2; ++k)
    for (int i = 1; i < world_size; ++i) edges[count++] = i;
  index[0] = count;
  for (int i = 1; i < world_size; ++i) {
    for (int k = 0; k < 2; ++k) edges[count++] = 0;
    index[i] = count;
  }
  check_graph(world_size, index, edges);
  free(index);
  free(edges);

  unsigned state = 11;
  for (int round = 0; round < 6; ++round) check_dist_graph(&state, 8 * round);
  check_outstanding();

  if (spans) { /* some native libraries end the program */
    int got[4], class = -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int code = MPI_Neighbor_allgather(&count, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TOPOLOGY, "no topology gave error class %d", class);
  }
  return finish("neighbor");
}
