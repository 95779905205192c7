#include "mpi/topology/reorder.hpp"

#include <span>

#include "core/base/own_order.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/topology/cart_grid.hpp"

namespace isthmus::face {
namespace {

// The most bytes of a distributed graph that all members exchange: a larger graph keeps its ranks.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

using Ints = std::span<const int>;

void put(std::vector<int>& words, const std::vector<int>& list) {
  words.push_back(static_cast<int>(list.size()));
  words.insert(words.end(), list.begin(), list.end());
}

std::vector<int> take(Ints& words) {
  const auto count = static_cast<std::size_t>(words.front());
  const Ints list = words.subspan(1, count);
  words = words.subspan(1 + count);
  return {list.begin(), list.end()};
}

std::vector<int> words_of(const DistGraphTopology& graph) {
  std::vector<int> words;
  put(words, graph.sources);
  put(words, graph.source_weights);
  put(words, graph.destinations);
  put(words, graph.destination_weights);
  return words;
}

DistGraphTopology edges_from(Ints words, bool weighted) {
  return {.sources = take(words),
          .source_weights = take(words),
          .destinations = take(words),
          .destination_weights = take(words),
          .weighted = weighted};
}

}  // namespace

core::Graph graph_of(const CartTopology& cart) {
  const int count = positions(cart.dims).value();
  std::vector<core::Graph::Edge> edges;
  for (int rank = 0; rank < count; ++rank) {
    for (int d = 0; d < static_cast<int>(cart.dims.size()); ++d) {
      if (const auto next = shifted(cart, rank, d, 1)) edges.push_back({rank, *next, 1});
    }
  }
  return {count, edges};
}

core::Graph graph_of(const GraphTopology& graph) {
  const int count = static_cast<int>(graph.index.size());
  std::vector<core::Graph::Edge> edges;
  for (int rank = 0; rank < count; ++rank) {
    for (const int to : graph.neighbors(rank)) edges.push_back({rank, to, 1});
  }
  return {count, edges};
}

std::vector<int> reordered(const GridComm& parent, const core::Graph& topology) {
  std::vector<int> clusters;
  clusters.reserve(static_cast<std::size_t>(topology.size()));
  for (int rank = 0; rank < topology.size(); ++rank) {
    clusters.push_back(parent.layout.cluster_of(rank));
  }
  const std::vector<int> wanted = core::partition(topology, clusters);
  // The members of a cluster take its places in the order of their ranks.
  std::vector<std::vector<int>> places(static_cast<std::size_t>(parent.layout.clusters()));
  for (int place = 0; place < topology.size(); ++place) {
    places[static_cast<std::size_t>(wanted[static_cast<std::size_t>(place)])].push_back(place);
  }
  std::vector<std::size_t> taken(places.size());
  std::vector<int> ranks;
  ranks.reserve(clusters.size());
  for (const int cluster : clusters) {
    const auto c = static_cast<std::size_t>(cluster);
    ranks.push_back(places[c][taken[c]++]);
  }
  return ranks;
}

int reorder_together(const GridCommRef& parent, DistGraphTopology& mine) {
  const std::vector<int> words = core::as_little_endian(words_of(mine));
  const std::vector<std::uint64_t> counts = tell_all(parent, std::uint64_t{words.size()});
  std::uint64_t total = 0;
  std::vector<std::size_t> sizes;
  for (const std::uint64_t count : counts) {
    total += count;
    sizes.push_back(count * sizeof(int));
  }
  if (total * sizeof(int) > kMostBytes) return parent->rank;
  std::vector<int> all(total);
  tell_all(parent, std::as_bytes(std::span(words)), std::as_writable_bytes(std::span(all)), sizes);
  core::little_endian(all);
  std::vector<Ints> of_rank;
  std::vector<core::Graph::Edge> edges;
  std::size_t at = 0;
  for (const std::uint64_t count : counts) {
    of_rank.push_back(Ints(all).subspan(at, count));
    at += count;
    const DistGraphTopology each = edges_from(of_rank.back(), mine.weighted);
    const int from = static_cast<int>(of_rank.size()) - 1;
    for (std::size_t i = 0; i < each.destinations.size(); ++i) {
      edges.push_back({from, each.destinations[i], each.destination_weights[i]});
    }
  }
  const core::Graph graph(parent->size, edges);
  const int rank = reordered(*parent, graph)[static_cast<std::size_t>(parent->rank)];
  mine = edges_from(of_rank[static_cast<std::size_t>(rank)], mine.weighted);
  return rank;
}

}  // namespace isthmus::face
