/* Graph topologies: made, asked for, duplicated, and dropped where MPI says so; small ones lie in
   one cluster. Wrong graphs are refused on every rank.
   ranks: 2 5 6 */
#include "../comm/check.h"

/* A ring: node i is joined to i - 1 and i + 1, and node 0 to itself. */
static int make_graph(int nodes, int* index, int* edges) {
  int count = 0;
  for (int i = 0; i < nodes; ++i) {
    if (i == 0) edges[count++] = 0;
    if (nodes > 1) edges[count++] = (i + nodes - 1) % nodes;
    if (nodes > 1) edges[count++] = (i + 1) % nodes;
    index[i] = count;
  }
  return count;
}

static void check_graph(MPI_Comm graph, int nodes, const int* index, const int* edges) {
  int topology = -1, got_nodes = -1, got_edges = -1, rank;
  MPI_Comm_rank(graph, &rank);
  MPI_Topo_test(graph, &topology);
  CHECK(topology == MPI_GRAPH, "MPI_Topo_test gave %d, expected MPI_GRAPH", topology);
  MPI_Graphdims_get(graph, &got_nodes, &got_edges);
  const int count = index[nodes - 1];
  CHECK(got_nodes == nodes && got_edges == count, "%d nodes and %d edges, expected %d and %d",
        got_nodes, got_edges, nodes, count);
  int *all_index = malloc(sizeof(int) * nodes), *all_edges = malloc(sizeof(int) * (count + 1));
  MPI_Graph_get(graph, nodes, count, all_index, all_edges);
  for (int i = 0; i < nodes; ++i) CHECK(all_index[i] == index[i], "index %d differs", i);
  for (int e = 0; e < count; ++e) CHECK(all_edges[e] == edges[e], "edge %d differs", e);
  for (int i = 0; i < nodes; ++i) {
    const int first = i == 0 ? 0 : index[i - 1];
    int number = -1;
    MPI_Graph_neighbors_count(graph, i, &number);
    CHECK(number == index[i] - first, "rank %d has %d neighbours", i, number);
    MPI_Graph_neighbors(graph, i, number, all_edges);
    for (int e = 0; e < number; ++e)
      CHECK(all_edges[e] == edges[first + e], "neighbour %d of rank %d is %d", e, i, all_edges[e]);
  }
  free(all_index);
  free(all_edges);
}

static void check_class(int code, int expected, const char* what) {
  const int class = class_of(code);
  CHECK(class == expected, "%s gave error class %d, expected %d", what, class, expected);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
  int* members = malloc(sizeof(int) * world_size);
  int* index = malloc(sizeof(int) * world_size);
  int* edges = malloc(sizeof(int) * 3 * world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;

  for (int nodes = world_size; nodes >= 1; --nodes) {
    const int count = make_graph(nodes, index, edges);
    int position = -9;
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &position);
    /* Open MPI does not know MPI_UNDEFINED here. */
    CHECK(world_rank < nodes ? position >= 0 && position < nodes
                             : position == MPI_UNDEFINED || !spans,
          "MPI_Graph_map gave %d", position);
    MPI_Comm graph = MPI_COMM_SELF;
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &graph);
    CHECK((graph != MPI_COMM_NULL) == (world_rank < nodes), "rank %d of %d nodes", world_rank,
          nodes);
    if (graph == MPI_COMM_NULL) continue;
    prove(graph, members, nodes, "a graph communicator");
    check_graph(graph, nodes, index, edges);
    CHECK(count == index[nodes - 1], "the test's own graph");

    MPI_Comm copy, later, split;
    MPI_Request request;
    int topology = -1;
    MPI_Comm_dup(graph, &copy);
    MPI_Comm_idup(graph, &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(graph, 0, 0, &split);
    MPI_Comm_free(&graph);
    check_graph(copy, nodes, index, edges);
    check_graph(later, nodes, index, edges);
    MPI_Topo_test(split, &topology);
    CHECK(topology == MPI_UNDEFINED, "a split communicator kept topology %d", topology);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&later);
    MPI_Comm_free(&split);
  }

  MPI_Comm none = MPI_COMM_SELF;
  MPI_Graph_create(MPI_COMM_WORLD, 0, index, edges, 0, &none);
  CHECK(none == MPI_COMM_NULL, "a graph without nodes has a communicator");

  /* Calls that must fail on every rank. */
  int number;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_class(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &number), MPI_ERR_TOPOLOGY,
              "MPI_Graph_neighbors_count without a graph");
  if (spans) { /* native libraries check less, or give other classes */
    make_graph(world_size, index, edges);
    edges[1] = world_size;
    check_class(MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &none), MPI_ERR_ARG,
                "an edge to nowhere");
    make_graph(world_size, index, edges);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, world_size + 1, index, edges, 0, &none),
                MPI_ERR_ARG, "more nodes than ranks");
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    check_class(MPI_Graph_neighbors_count(graph, world_size, &number), MPI_ERR_RANK,
                "neighbours of no rank");
    check_class(MPI_Graph_get(graph, world_size, 0, index, edges), MPI_ERR_ARG, "too little room");
    check_class(MPI_Cartdim_get(graph, &number), MPI_ERR_TOPOLOGY, "dimensions of a graph");
    MPI_Comm_free(&graph);
  }
  free(members);
  free(index);
  free(edges);
  return finish("graph");
}
