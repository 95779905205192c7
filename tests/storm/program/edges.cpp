#include "edges.hpp"

#include <algorithm>

namespace storm {

namespace {

void describe(Edges& edges) {
  if (edges.comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(edges.comm, &edges.rank);
  MPI_Comm_size(edges.comm, &edges.size);
}

struct Grid {
  std::vector<int> dims, periods;

  [[nodiscard]] std::vector<int> coordinates(int rank) const {
    std::vector<int> at(dims.size());
    for (std::size_t d = dims.size(); d-- > 0;) {
      at[d] = rank % dims[d];
      rank /= dims[d];
    }
    return at;
  }
  /// MPI_PROC_NULL beyond an edge.
  [[nodiscard]] int shifted(int rank, std::size_t d, int by) const {
    std::vector<int> at = coordinates(rank);
    at[d] += by;
    if (periods[d]) at[d] = (at[d] % dims[d] + dims[d]) % dims[d];
    if (at[d] < 0 || at[d] >= dims[d]) return MPI_PROC_NULL;
    int made = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) made = made * dims[i] + at[i];
    return made;
  }
};

void check_cart(Step& step, const Edges& edges, const Grid& grid) {
  const int n = static_cast<int>(grid.dims.size());
  int topology = 0, dimensions = -1;
  MPI_Topo_test(edges.comm, &topology);
  MPI_Cartdim_get(edges.comm, &dimensions);
  step.expect_equal(topology, MPI_CART, "the topology");
  step.expect_equal(dimensions, n, "the number of dimensions");
  std::vector<int> dims(grid.dims.size()), periods(dims.size()), at(dims.size());
  MPI_Cart_get(edges.comm, n, dims.data(), periods.data(), at.data());
  const std::vector<int> should = grid.coordinates(edges.rank);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    step.expect_equal(dims[d], grid.dims[d], "a dimension");
    step.expect_equal(periods[d] != 0, grid.periods[d], "whether a dimension is periodic");
    step.expect_equal(at[d], should[d], "a coordinate");
    const int by = step.own.below(2 * dims[d] + 1) - dims[d];
    int before = -7, behind = -7;
    MPI_Cart_shift(edges.comm, static_cast<int>(d), by, &before, &behind);
    step.expect_equal(before, grid.shifted(edges.rank, d, -by), "the source of a shift");
    step.expect_equal(behind, grid.shifted(edges.rank, d, by), "the destination of a shift");
  }
  const int some = step.own.below(edges.size);
  std::vector<int> of_some(dims.size());
  MPI_Cart_coords(edges.comm, some, n, of_some.data());
  int back = -1;
  MPI_Cart_rank(edges.comm, of_some.data(), &back);
  step.expect_equal(back, some, "the rank at its own coordinates");
}

// Steps are not drawn on the parts: they are neighbours along some dimensions only.
void check_sub(const Step& step, const Edges& edges, const Grid& grid,
               const std::vector<int>& keep) {
  MPI_Comm part;
  MPI_Cart_sub(edges.comm, keep.data(), &part);
  int rank = -1, size = -1, should_rank = 0, should_size = 1;
  MPI_Comm_rank(part, &rank);
  MPI_Comm_size(part, &size);
  const std::vector<int> at = grid.coordinates(edges.rank);
  for (std::size_t d = 0; d < keep.size(); ++d) {
    if (!keep[d]) continue;
    should_rank = should_rank * grid.dims[d] + at[d];
    should_size *= grid.dims[d];
  }
  step.expect_equal(size, should_size, "the size of a part of the grid");
  step.expect_equal(rank, should_rank, "the rank in a part of the grid");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  MPI_Allgather(&edges.rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, part);
  for (const int other : ranks) {
    const std::vector<int> its = grid.coordinates(other);
    for (std::size_t d = 0; d < keep.size(); ++d) {
      if (!keep[d])
        step.expect_equal(its[d], at[d], "a coordinate that a part has in common", other);
    }
  }
  MPI_Comm_free(&part);
}

Edges make_cart(Step& step) {
  Grid grid;
  const int n = step.random.between(1, 4);
  const bool all = step.random.chance(60);
  if (all) {
    grid.dims.resize(static_cast<std::size_t>(n));
    MPI_Dims_create(step.size, n, grid.dims.data());
    step.random.shuffle(grid.dims);
  } else {
    int left = step.size;
    for (int i = 0; i < n; ++i) {
      grid.dims.push_back(step.random.between(1, std::max(1, left)));
      left /= grid.dims.back();
    }
  }
  for (int i = 0; i < n; ++i) grid.periods.push_back(step.random.chance(50));
  std::vector<int> keep;
  for (int i = 0; i < n; ++i) keep.push_back(step.random.chance(50));
  const int reorder = step.random.below(2);
  const bool sub = step.random.chance(50);
  Edges edges;
  edges.cartesian = true;
  MPI_Cart_create(step.comm, n, grid.dims.data(), grid.periods.data(), reorder, &edges.comm);
  describe(edges);
  if (edges.comm == MPI_COMM_NULL) return edges;
  int size = 1;
  for (const int dim : grid.dims) size *= dim;
  step.expect_equal(edges.size, size, "the size of a Cartesian communicator");
  for (int rank = 0; rank < size; ++rank) {
    std::vector<int> near;
    for (std::size_t d = 0; d < grid.dims.size(); ++d) {
      near.push_back(grid.shifted(rank, d, -1));
      near.push_back(grid.shifted(rank, d, 1));
    }
    edges.sources.push_back(near);
  }
  edges.destinations = edges.sources;
  check_cart(step, edges, grid);
  if (sub) check_sub(step, edges, grid, keep);
  return edges;
}

// Edges go both ways, as MPI asks of graphs whose neighbours talk.
Edges make_graph(Step& step) {
  const int nodes = step.random.chance(70) ? step.size : step.random.between(1, step.size);
  std::vector<std::vector<int>> near(static_cast<std::size_t>(nodes));
  const int count = step.random.below(3 * nodes + 1);
  for (int i = 0; i < count; ++i) {
    const int a = step.random.below(nodes), b = step.random.below(nodes);
    near[static_cast<std::size_t>(a)].push_back(b);
    if (a != b) near[static_cast<std::size_t>(b)].push_back(a);
  }
  std::vector<int> index, flat;
  for (const auto& its : near) {
    flat.insert(flat.end(), its.begin(), its.end());
    index.push_back(static_cast<int>(flat.size()));
  }
  flat.reserve(1);
  Edges edges;
  MPI_Graph_create(step.comm, nodes, index.data(), flat.data(), step.random.below(2), &edges.comm);
  describe(edges);
  edges.sources = edges.destinations = near;
  if (edges.comm == MPI_COMM_NULL) return edges;
  int topology = 0, got_nodes = 0, got_edges = 0;
  MPI_Topo_test(edges.comm, &topology);
  MPI_Graphdims_get(edges.comm, &got_nodes, &got_edges);
  step.expect_equal(topology, MPI_GRAPH, "the topology");
  step.expect_equal(got_nodes, nodes, "the number of nodes");
  step.expect_equal(got_edges, static_cast<long long>(flat.size()), "the number of edges");
  for (int rank = 0; rank < nodes; ++rank) {
    const auto& its = near[static_cast<std::size_t>(rank)];
    int number = -1;
    MPI_Graph_neighbors_count(edges.comm, rank, &number);
    step.expect_equal(number, static_cast<long long>(its.size()), "the number of neighbours", rank);
    std::vector<int> got(its.size());
    MPI_Graph_neighbors(edges.comm, rank, number, got.data());
    for (std::size_t i = 0; i < its.size(); ++i) step.expect_equal(got[i], its[i], "a neighbour");
  }
  return edges;
}

void check_dist_graph(const Step& step, const Edges& edges, bool weighted) {
  int topology = 0, in = -1, out = -1, flag = -1;
  MPI_Topo_test(edges.comm, &topology);
  MPI_Dist_graph_neighbors_count(edges.comm, &in, &out, &flag);
  step.expect_equal(topology, MPI_DIST_GRAPH, "the topology");
  step.expect_equal(flag != 0, weighted, "whether a graph has weights");
  step.expect_equal(in, static_cast<long long>(edges.in().size()), "the number of sources");
  step.expect_equal(out, static_cast<long long>(edges.out().size()), "the number of destinations");
}

// Each rank gives its own edges, or some rank gives those of others.
Edges make_dist_graph(Step& step) {
  struct Edge {
    int giver, from, to, weight;
  };
  std::vector<Edge> all;
  for (int i = step.random.below(4 * step.size + 1); i > 0; --i) {
    const int from = step.random.below(step.size), to = step.random.below(step.size);
    all.push_back({step.random.below(step.size), from, to, step.random.below(100)});
  }
  const bool adjacent = step.random.chance(50), weighted = step.random.chance(40);
  Edges edges;
  edges.sources.resize(static_cast<std::size_t>(step.size));
  edges.destinations.resize(edges.sources.size());
  std::vector<int> in_weights, out_weights;
  for (const Edge& e : all) {
    edges.sources[static_cast<std::size_t>(e.to)].push_back(e.from);
    edges.destinations[static_cast<std::size_t>(e.from)].push_back(e.to);
    if (e.to == step.rank) in_weights.push_back(e.weight);
    if (e.from == step.rank) out_weights.push_back(e.weight);
  }
  if (adjacent) {
    const auto& in = edges.sources[static_cast<std::size_t>(step.rank)];
    const auto& out = edges.destinations[static_cast<std::size_t>(step.rank)];
    in_weights.reserve(1);
    out_weights.reserve(1);
    MPI_Dist_graph_create_adjacent(
        step.comm, static_cast<int>(in.size()), in.data(),
        weighted ? in_weights.data() : MPI_UNWEIGHTED, static_cast<int>(out.size()), out.data(),
        weighted ? out_weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &edges.comm);
    describe(edges);
    check_dist_graph(step, edges, weighted);
    std::vector<int> sources(in.size()), destinations(out.size()), weights(in.size() + 1),
        others(out.size() + 1);
    MPI_Dist_graph_neighbors(edges.comm, static_cast<int>(in.size()), sources.data(),
                             weighted ? weights.data() : MPI_UNWEIGHTED,
                             static_cast<int>(out.size()), destinations.data(),
                             weighted ? others.data() : MPI_UNWEIGHTED);
    for (std::size_t i = 0; i < in.size(); ++i) {
      step.expect_equal(sources[i], in[i], "a source");
      if (weighted) step.expect_equal(weights[i], in_weights[i], "the weight of a source");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      step.expect_equal(destinations[i], out[i], "a destination");
      if (weighted) step.expect_equal(others[i], out_weights[i], "the weight of a destination");
    }
    return edges;
  }
  std::vector<int> from, degrees, to, weights;
  for (const Edge& e : all) {
    if (e.giver != step.rank) continue;
    from.push_back(e.from);
    degrees.push_back(1);
    to.push_back(e.to);
    weights.push_back(e.weight);
  }
  weights.reserve(1);
  MPI_Dist_graph_create(step.comm, static_cast<int>(from.size()), from.data(), degrees.data(),
                        to.data(), weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &edges.comm);
  describe(edges);
  check_dist_graph(step, edges, weighted);
  // MPI does not say in which order edges from different givers are: all learn the order there is.
  std::vector<int> sources(edges.in()), destinations(edges.out()), none(sources.size() + 1),
      none_out(destinations.size() + 1);
  MPI_Dist_graph_neighbors(edges.comm, static_cast<int>(sources.size()), sources.data(),
                           weighted ? none.data() : MPI_UNWEIGHTED,
                           static_cast<int>(destinations.size()), destinations.data(),
                           weighted ? none_out.data() : MPI_UNWEIGHTED);
  const auto same = [&](std::vector<int> a, std::vector<int> b, const char* what) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    for (std::size_t i = 0; i < a.size(); ++i) step.expect_equal(a[i], b[i], what);
  };
  same(sources, edges.in(), "a source");
  same(destinations, edges.out(), "a destination");
  const auto learn = [&](std::vector<int> mine, std::vector<std::vector<int>>& lists) {
    std::vector<int> counts, places, flat;
    int sum = 0;
    for (const auto& list : lists) {
      counts.push_back(static_cast<int>(list.size()));
      places.push_back(sum);
      sum += counts.back();
    }
    flat.resize(static_cast<std::size_t>(sum) + 1);
    mine.reserve(1);
    MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT, flat.data(), counts.data(),
                   places.data(), MPI_INT, step.comm);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      lists[i].assign(flat.begin() + places[i], flat.begin() + places[i] + counts[i]);
    }
  };
  learn(sources, edges.sources);
  learn(destinations, edges.destinations);
  return edges;
}

}  // namespace

// A block that leaves in one direction of a grid comes in from the other. Two nodes of a graph
// count the edges between them in the same order.
int Edges::arrival(int block) const {
  if (cartesian) return block ^ 1;
  const int source = in()[static_cast<std::size_t>(block)];
  int before = 0;
  for (int i = 0; i < block; ++i) before += in()[static_cast<std::size_t>(i)] == source;
  const auto& its = destinations[static_cast<std::size_t>(source)];
  for (std::size_t i = 0; i < its.size(); ++i) {
    if (its[i] == rank && before-- == 0) return static_cast<int>(i);
  }
  return -1;
}

bool Edges::doubled() const {
  return std::any_of(sources.begin(), sources.end(), [](std::vector<int> near) {
    near.erase(std::remove(near.begin(), near.end(), MPI_PROC_NULL), near.end());
    std::sort(near.begin(), near.end());
    return std::adjacent_find(near.begin(), near.end()) != near.end();
  });
}

Edges make_edges(Step& step) {
  const int way = step.random.below(3);
  return way == 0 ? make_cart(step) : way == 1 ? make_graph(step) : make_dist_graph(step);
}

}  // namespace storm
