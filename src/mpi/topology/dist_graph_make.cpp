// MPI-4.1 section 8.5.4: making communicators with a distributed graph topology. Members give
// different edges, so every member learns whether all members' edges are valid.
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/own_order.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm_info.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/comm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/reorder.hpp"

namespace isthmus::face {
namespace {

/// An edge as one of its ends receives it.
struct ToldEdge {
  int other;  ///< the rank at the other end
  int weight;
  int leaves;  ///< 1: it leaves that rank; 0: it comes in
  auto numbers() { return std::tie(other, weight, leaves); }
};

[[noreturn]] void refuse(const std::string& sentence) { throw MpiError(MPI_ERR_ARG, sentence); }

void check_count(int count, const char* what) {
  if (count < 0) refuse(std::string(what) + ", " + std::to_string(count) + ", is negative");
}

void check_ranks(const GridComm& comm, int count, const int ranks[], const char* what) {
  if (count > 0 && ranks == nullptr) refuse(std::string(what) + " is a null pointer");
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm.size) {
      refuse(std::string(what) + " has " + std::to_string(ranks[i]) +
             ", which is not a rank of the communicator");
    }
  }
}

bool weighted(const int weights[]) { return weights != MPI_UNWEIGHTED; }

void check_weights(int count, const int weights[]) {
  if (count == 0 || !weighted(weights)) return;
  if (weights == nullptr || weights == MPI_WEIGHTS_EMPTY) refuse("there are edges without weights");
  for (int i = 0; i < count; ++i) {
    if (weights[i] < 0) refuse("a weight is negative");
  }
}

/// The weights of `count` edges.
std::vector<int> weights_of(int count, const int weights[]) {
  if (count == 0) return {};
  if (!weighted(weights)) return std::vector<int>(static_cast<std::size_t>(count), 1);
  return {weights, weights + count};
}

/// Runs `read`, which reads this process's arguments, and learns whether those of all members are
/// valid. Throws on all members if they are not.
template <class Read>
void read_together(const GridCommRef& parent, Read&& read) {
  std::optional<MpiError> wrong;
  try {
    std::forward<Read>(read)();
  } catch (const MpiError& failure) {
    wrong = failure;
  }
  const bool all_valid = all_succeeded(parent, !wrong);
  if (wrong) throw MpiError(*wrong);
  if (!all_valid) refuse("the arguments of another rank are not valid");
}

/// MPI_Dist_graph_create's edges for both of their ends, by rank.
std::vector<std::vector<ToldEdge>> edges_of(const GridComm& comm, int n, const int sources[],
                                            const int degrees[], const int destinations[],
                                            const int weights[]) {
  check_count(n, "n");
  check_ranks(comm, n, sources, "sources");
  if (n > 0 && degrees == nullptr) refuse("degrees is a null pointer");
  int number = 0;
  for (int i = 0; i < n; ++i) {
    check_count(degrees[i], "a degree");
    if (__builtin_add_overflow(number, degrees[i], &number)) refuse("there are too many edges");
  }
  check_ranks(comm, number, destinations, "destinations");
  check_weights(number, weights);
  const std::vector<int> weight = weights_of(number, weights);
  std::vector<std::vector<ToldEdge>> edges(static_cast<std::size_t>(comm.size));
  std::size_t edge = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < degrees[i]; ++k, ++edge) {
      const int from = sources[i], to = destinations[edge];
      edges[static_cast<std::size_t>(from)].push_back({to, weight[edge], 1});
      edges[static_cast<std::size_t>(to)].push_back({from, weight[edge], 0});
    }
  }
  return edges;
}

/// This process's edges, in the order of the ranks that gave them and of their calls. The order is
/// the same at both ends, so edges between the same ranks keep their weights. Collective.
DistGraphTopology tell(const GridCommRef& comm, const std::vector<std::vector<ToldEdge>>& edges) {
  std::vector<std::size_t> sizes;
  std::vector<ToldEdge> all;
  for (const std::vector<ToldEdge>& of_rank : edges) {
    sizes.push_back(of_rank.size() * sizeof(ToldEdge));
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  core::little_endian(all);
  const std::vector<std::byte> bytes = exchange_blocks(comm, std::as_bytes(std::span(all)), sizes);
  DistGraphTopology mine;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(ToldEdge)) {
    ToldEdge edge{};
    std::memcpy(&edge, bytes.data() + at, sizeof edge);
    core::little_endian(edge);
    (edge.leaves != 0 ? mine.destinations : mine.sources).push_back(edge.other);
    (edge.leaves != 0 ? mine.destination_weights : mine.source_weights).push_back(edge.weight);
  }
  return mine;
}

int finish(const GridCommRef& parent, DistGraphTopology graph, bool reorder, MPI_Comm* result) {
  const int rank = reorder ? reorder_together(parent, graph) : parent->rank;
  return split(parent, 0, rank, std::make_shared<const Topology>(std::move(graph)), result);
}

}  // namespace

// coverage: reorder moves ranks where the info key isthmus_reorder or --reorder says so
ISTHMUS_MPI(Dist_graph_create)
(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
 const int weights[], MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
  const GridCommRef parent = spanning(comm_old);
  if (!parent) {
    return settled(parked(native.Dist_graph_create, comm_old, n, sources, degrees, destinations,
                          weights, info, reorder, comm_dist_graph));
  }
  return shielded(comm_old, "MPI_Dist_graph_create", [&] {
    require_intracomm(*parent);
    const bool reorders = reorders_by(info, *parent) && reorder != 0;
    std::vector<std::vector<ToldEdge>> edges;
    read_together(parent,
                  [&] { edges = edges_of(*parent, n, sources, degrees, destinations, weights); });
    DistGraphTopology graph = tell(parent, edges);
    graph.weighted = weighted(weights);
    return finish(parent, std::move(graph), reorders, comm_dist_graph);
  });
}

// coverage: reorder moves ranks where the info key isthmus_reorder or --reorder says so
ISTHMUS_MPI(Dist_graph_create_adjacent)
(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
 const int destinations[], const int destweights[], MPI_Info info, int reorder,
 MPI_Comm* comm_dist_graph) {
  const GridCommRef parent = spanning(comm_old);
  if (!parent) {
    return settled(parked(native.Dist_graph_create_adjacent, comm_old, indegree, sources,
                          sourceweights, outdegree, destinations, destweights, info, reorder,
                          comm_dist_graph));
  }
  return shielded(comm_old, "MPI_Dist_graph_create_adjacent", [&] {
    require_intracomm(*parent);
    const bool reorders = reorders_by(info, *parent) && reorder != 0;
    read_together(parent, [&] {
      check_count(indegree, "indegree");
      check_count(outdegree, "outdegree");
      check_ranks(*parent, indegree, sources, "sources");
      check_ranks(*parent, outdegree, destinations, "destinations");
      check_weights(indegree, sourceweights);
      check_weights(outdegree, destweights);
      if (weighted(sourceweights) != weighted(destweights)) {
        refuse("only one of sourceweights and destweights is MPI_UNWEIGHTED");
      }
    });
    DistGraphTopology graph;
    graph.sources.assign(sources, sources + indegree);
    graph.source_weights = weights_of(indegree, sourceweights);
    graph.destinations.assign(destinations, destinations + outdegree);
    graph.destination_weights = weights_of(outdegree, destweights);
    graph.weighted = weighted(sourceweights);
    return finish(parent, std::move(graph), reorders, comm_dist_graph);
  });
}

}  // namespace isthmus::face
