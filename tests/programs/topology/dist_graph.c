/* Distributed graphs with random edges: several between the same ranks, and from ranks to
   themselves. Other ranks give them, with weights and without.
   ranks: 2 5 6 */
#include "../comm/check.h"

#define MAX_EDGES 200

static int spans; /* the world, several clusters */
static int from[MAX_EDGES], to[MAX_EDGES], weight[MAX_EDGES], given_by[MAX_EDGES];

/* The same on every rank; listed by the rank that gives them. */
static int draw_edges(unsigned* state) {
  const int count = (int)draw(state, 4 * world_size);
  int made = 0;
  for (int giver = 0; giver < world_size; ++giver)
    for (int e = 0; e < count / world_size + 1; ++e) {
      from[made] = (int)draw(state, world_size);
      to[made] = (int)draw(state, world_size);
      weight[made] = made;
      given_by[made++] = giver;
    }
  return made;
}

static int by_rank_and_weight(const void* a, const void* b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* `ranks` and `weights` are those of the edges whose `mine` end is this rank, in some order; edges
   of the same ranks in theirs. */
static void check_side(int edges, const int* mine, const int* others, int count, const int* ranks,
                       const int* weights, int weighted, const char* what) {
  int expected[MAX_EDGES][2], got[MAX_EDGES][2], number = 0;
  for (int e = 0; e < edges; ++e)
    if (mine[e] == world_rank) {
      expected[number][0] = others[e];
      expected[number++][1] = weighted ? weight[e] : 0;
    }
  CHECK(count == number, "%d %s, expected %d", count, what, number);
  for (int i = 0; i < count; ++i) {
    got[i][0] = ranks[i];
    got[i][1] = weighted ? weights[i] : 0;
  }
  qsort(expected, number, sizeof expected[0], by_rank_and_weight);
  qsort(got, number, sizeof got[0], by_rank_and_weight);
  for (int i = 0; i < number; ++i)
    CHECK(got[i][0] == expected[i][0] && got[i][1] == expected[i][1],
          "one of the %s is %d (weight %d), expected %d (%d)", what, got[i][0], got[i][1],
          expected[i][0], expected[i][1]);
}

static void check_graph(MPI_Comm graph, int edges, int weighted) {
  int topology = -1, in = -1, out = -1, has_weights = -1;
  int sources[MAX_EDGES], source_weights[MAX_EDGES], destinations[MAX_EDGES],
      dest_weights[MAX_EDGES];
  MPI_Topo_test(graph, &topology);
  CHECK(topology == MPI_DIST_GRAPH, "MPI_Topo_test gave %d, expected MPI_DIST_GRAPH", topology);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights);
  CHECK(!has_weights == !weighted, "weighted is %d, expected %d", has_weights, weighted);
  MPI_Dist_graph_neighbors(graph, in, sources, weighted ? source_weights : MPI_UNWEIGHTED, out,
                           destinations, weighted ? dest_weights : MPI_UNWEIGHTED);
  check_side(edges, to, from, in, sources, source_weights, weighted, "sources");
  check_side(edges, from, to, out, destinations, dest_weights, weighted, "destinations");
  if (in > 1 && spans) { /* MPICH wants room for all */
    int first[2] = {-1, -1}, none[1];
    MPI_Dist_graph_neighbors(graph, 1, first, MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED);
    CHECK(first[0] == sources[0] && first[1] == -1, "the first source is %d, then %d", first[0],
          first[1]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  spans = spans_clusters(MPI_COMM_WORLD);
  unsigned state = 7;
  int* members = malloc(sizeof(int) * world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_no_such_key", "1");

  for (int round = 0; round < 8; ++round) {
    const int edges = draw_edges(&state), weighted = round % 2;
    int n = 0, sources[MAX_EDGES], degrees[MAX_EDGES], destinations[MAX_EDGES], weights[MAX_EDGES];
    for (int e = 0; e < edges; ++e)
      if (given_by[e] == world_rank) {
        sources[n] = from[e];
        degrees[n] = 1;
        destinations[n] = to[e];
        weights[n++] = weight[e];
      }
    MPI_Comm graph, copy;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                          weighted ? weights : MPI_UNWEIGHTED, round < 4 ? MPI_INFO_NULL : info, 0,
                          &graph);
    prove(graph, members, world_size, "a distributed graph");
    check_graph(graph, edges, weighted);
    MPI_Comm_dup(graph, &copy);
    MPI_Comm_free(&graph);
    check_graph(copy, edges, weighted);
    MPI_Comm_free(&copy);

    int in = 0, out = 0, in_weights[MAX_EDGES];
    for (int e = 0; e < edges; ++e) {
      if (to[e] == world_rank) {
        sources[in] = from[e];
        in_weights[in++] = weight[e];
      }
      if (from[e] == world_rank) {
        destinations[out] = to[e];
        weights[out++] = weight[e];
      }
    }
    /* Ranks without edges have no weights to point to. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources,
                                   !weighted ? MPI_UNWEIGHTED
                                   : in > 0  ? in_weights
                                             : MPI_WEIGHTS_EMPTY,
                                   out, destinations,
                                   !weighted ? MPI_UNWEIGHTED
                                   : out > 0 ? weights
                                             : MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &graph);
    check_graph(graph, edges, weighted);
    MPI_Comm_free(&graph);
  }
  MPI_Info_free(&info);

  /* One rank's wrong argument is an error on all. */
  if (spans) { /* native libraries hang */
    const int degree = 1, other = world_rank == world_size - 1 ? world_size : 0;
    MPI_Comm graph;
    int code, class = -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &degree, &other, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_ARG, "an edge to nowhere gave error class %d", class);
    code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED,
                                          world_rank == 0 ? -1 : 0, NULL, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &graph);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_ARG, "a negative outdegree gave error class %d", class);
    code = MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &class, &class, &class);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TOPOLOGY, "no graph gave error class %d", class);
  }
  free(members);
  return finish("dist_graph");
}
