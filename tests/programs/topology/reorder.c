/* Topologies whose ranks may move. Each rank has the place that the topology says, and no more
   neighbours are in different clusters than without. Rank 0 prints how many are, before and behind
   an arrow. Without arguments the program asks for it; with one, the run has to.
   ranks: 2 5 8 */
#include "../checking.h"

static int world_rank, world_size, *cluster; /* of each world rank */
static MPI_Info wish = MPI_INFO_NULL;
static MPI_Comm parent = MPI_COMM_WORLD;

/* The world ranks of a communicator's members. */
static int* members_of(MPI_Comm comm) {
  int size, seen = 0;
  MPI_Comm_size(comm, &size);
  int* members = malloc(sizeof(int) * size);
  MPI_Allgather(&world_rank, 1, MPI_INT, members, 1, MPI_INT, comm);
  for (int r = 0; r < world_size; ++r)
    for (int i = 0; i < size; ++i) seen += members[i] == r;
  CHECK(seen == size, "%d different processes of %d", seen, size);
  return members;
}

static void learn_clusters(void) {
  const char* name = getenv("ISTHMUS_CLUSTER");
  int mine = 0;
  for (; name != NULL && *name != 0; ++name) mine = (mine * 131 + *name) % 1000003;
  cluster = malloc(sizeof(int) * world_size);
  MPI_Allgather(&mine, 1, MPI_INT, cluster, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Edges to neighbours in other clusters: as the ranks of the topology are, and as they would be
   were they those of the world. */
static void count(const char* what, MPI_Comm comm, int neighbours, const int* neighbour) {
  int rank, mine[2] = {0, 0}, sum[2];
  MPI_Comm_rank(comm, &rank);
  int* const members = members_of(comm);
  for (int i = 0; i < neighbours; ++i) {
    if (neighbour[i] < 0) continue;
    mine[0] += cluster[rank] != cluster[neighbour[i]];
    mine[1] += cluster[members[rank]] != cluster[members[neighbour[i]]];
  }
  MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, comm);
  CHECK(sum[1] <= sum[0], "%s: %d edges cross, and %d without reorder", what, sum[1], sum[0]);
  if (rank == 0) printf("%s %d -> %d\n", what, sum[0] / 2, sum[1] / 2);
  free(members);
}

/* A halo exchange: everybody hears from the ranks that it takes for its neighbours. */
static void exchange(MPI_Comm comm, int neighbours) {
  int rank, heard[8], expected[8], topology;
  MPI_Comm_rank(comm, &rank);
  MPI_Topo_test(comm, &topology);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, heard, 1, MPI_INT, comm);
  if (topology == MPI_CART)
    for (int d = 0; d < neighbours / 2; ++d)
      MPI_Cart_shift(comm, d, 1, &expected[2 * d], &expected[2 * d + 1]);
  else if (topology == MPI_GRAPH)
    MPI_Graph_neighbors(comm, rank, neighbours, expected);
  else {
    int weights[8], out[8], out_weights[8];
    MPI_Dist_graph_neighbors(comm, neighbours, expected, weights, neighbours, out, out_weights);
  }
  for (int i = 0; i < neighbours; ++i)
    CHECK(expected[i] < 0 || heard[i] == expected[i], "heard %d from %d", heard[i], expected[i]);
  if (topology == MPI_CART) count("cart", comm, neighbours, expected);
  if (topology == MPI_GRAPH) count("graph", comm, neighbours, expected);
  if (topology == MPI_DIST_GRAPH) count("distributed", comm, neighbours, expected);
}

static void carts(int periodic) {
  int dims[2] = {0, 0}, periods[2] = {periodic, 0}, mapped, rank;
  MPI_Dims_create(world_size, 2, dims);
  MPI_Comm cart;
  MPI_Cart_create(parent, 2, dims, periods, 1, &cart);
  MPI_Comm_rank(cart, &rank);
  MPI_Cart_map(parent, 2, dims, periods, &mapped);
  CHECK(mapped == rank || !spans_clusters(MPI_COMM_WORLD), "MPI_Cart_map gives %d, and it is %d",
        mapped, rank);
  exchange(cart, 4);
  MPI_Comm_free(&cart);

  /* A topology with fewer positions than ranks. */
  const int few = world_size - 1, ring = 1;
  MPI_Cart_create(parent, 1, &few, &ring, 1, &cart);
  CHECK((cart != MPI_COMM_NULL) == (world_rank < few), "of %d positions", few);
  if (cart == MPI_COMM_NULL) return;
  free(members_of(cart));
  MPI_Comm_free(&cart);
}

/* A ring in which a rank's neighbours are far from it, with a chord. */
static int next_of(int rank) { return (rank + world_size / 2 + 1) % world_size; }
static int previous_of(int rank) {
  for (int r = 0; r < world_size; ++r)
    if (next_of(r) == rank) return r;
  return -1;
}
static int is_ring(void) {
  int at = 0, steps = 0;
  do at = next_of(at);
  while (++steps < world_size && at != 0);
  return steps == world_size;
}

static void graphs(void) {
  int index[64], edges[128], mapped, rank;
  for (int r = 0; r < world_size; ++r) {
    edges[2 * r] = previous_of(r);
    edges[2 * r + 1] = next_of(r);
    index[r] = 2 * r + 2;
  }
  MPI_Comm graph;
  MPI_Graph_create(parent, world_size, index, edges, 1, &graph);
  MPI_Comm_rank(graph, &rank);
  MPI_Graph_map(parent, world_size, index, edges, &mapped);
  CHECK(mapped == rank || !spans_clusters(MPI_COMM_WORLD), "MPI_Graph_map gives %d, and it is %d",
        mapped, rank);
  exchange(graph, 2);
  MPI_Comm_free(&graph);
}

static void check_edges(MPI_Comm graph, int weighted) {
  int rank, in, out, has_weights, sources[2] = {-1, -1}, targets[2] = {-1, -1}, weights[4] = {0};
  MPI_Comm_rank(graph, &rank);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights);
  CHECK(in == 2 && out == 2 && !has_weights == !weighted, "%d in, %d out, weighted %d", in, out,
        has_weights);
  MPI_Dist_graph_neighbors(graph, 2, sources, weighted ? weights : MPI_UNWEIGHTED, 2, targets,
                           weighted ? weights + 2 : MPI_UNWEIGHTED);
  CHECK(sources[0] == previous_of(rank) && sources[1] == next_of(rank), "sources %d and %d",
        sources[0], sources[1]);
  CHECK(targets[0] == next_of(rank) && targets[1] == previous_of(rank), "destinations %d and %d",
        targets[0], targets[1]);
  if (!weighted) return;
  CHECK(weights[0] == 1 + previous_of(rank) && weights[2] == 1 + rank, "weights %d and %d",
        weights[0], weights[2]);
  CHECK(weights[1] == 101 + next_of(rank) && weights[3] == 101 + rank, "weights %d and %d",
        weights[1], weights[3]);
}

/* Edges ahead in the ring weigh 1 + rank, edges back 101 + rank. */
static void distributed(int weighted) {
  const int near[2] = {previous_of(world_rank), next_of(world_rank)};
  const int ends[2] = {near[1], near[0]};
  const int into[2] = {1 + near[0], 101 + near[1]}, from[2] = {1 + world_rank, 101 + world_rank};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, weighted ? into : MPI_UNWEIGHTED, 2, ends,
                                 weighted ? from : MPI_UNWEIGHTED, wish, 1, &graph);
  check_edges(graph, weighted);
  exchange(graph, 2);
  MPI_Comm_free(&graph);

  /* The same edges, given by other ranks; their order may differ. */
  const int other = (world_rank + 1) % world_size, degree = 1, ahead = next_of(other);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &other, &degree, &ahead, MPI_UNWEIGHTED, wish, 1,
                        &graph);
  int rank, source = -1, target = -1, weight;
  MPI_Comm_rank(graph, &rank);
  MPI_Dist_graph_neighbors(graph, 1, &source, &weight, 1, &target, &weight);
  CHECK(source == previous_of(rank) && target == next_of(rank), "from %d, to %d", source, target);
  free(members_of(graph));
  MPI_Comm_free(&graph);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  learn_clusters();
  if (argc == 1) {
    MPI_Info_create(&wish);
    MPI_Info_set(wish, "isthmus_reorder", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, wish, &parent);
  }
  carts(0);
  carts(1);
  if (is_ring()) {
    graphs();
    distributed(0);
    distributed(1);
  }
  if (argc == 1) {
    MPI_Comm_free(&parent);
    MPI_Info_free(&wish);
  }
  free(cluster);
  MPI_Finalize();
  return 0;
}
