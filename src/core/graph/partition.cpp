#include "core/graph/partition.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace isthmus::core {
namespace {

// Vertices from which distances are taken. In a grid, four of them are its corners.
constexpr std::size_t kLandmarks = 5;
// The number of the best orders that are refined.
constexpr std::size_t kRefined = 3;

constexpr int kElsewhere = -1;

/// Some vertices of a graph, divided into two.
class Bisection {
 public:
  /// `label` has 0 for them, and kElsewhere for all others.
  Bisection(const Graph& graph, std::vector<int> vertices, std::vector<int>& label)
      : graph_(graph), vertices_(std::move(vertices)), label_(label) {}

  /// The first side has `count` vertices. Leaves 0 and 1 in the labels, 0 for the first side.
  void run(std::size_t count) {
    const std::vector<Distances> far = landmarks();
    std::vector<Candidate> all;
    try_order(
        count, [](int v) { return v; }, all);
    try_order(
        count, [](int v) { return -v; }, all);
    for (const Distances& a : far) {
      for (const Distances& b : far) {
        if (&a == &b) continue;
        try_order(
            count,
            [&](int v) { return a[static_cast<std::size_t>(v)] - b[static_cast<std::size_t>(v)]; },
            all);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cut < b.cut; });
    if (all.size() > kRefined) all.resize(kRefined);
    Candidate best{std::numeric_limits<std::int64_t>::max(), {}};
    for (Candidate& each : all) {
      apply(each);
      refine(graph_, label_);
      each = taken();
      if (each.cut < best.cut) best = std::move(each);
    }
    apply(best);
  }

 private:
  using Distances = std::vector<int>;  // by vertex
  struct Candidate {
    std::int64_t cut;
    std::vector<int> first;  // the vertices of the first side
  };

  /// Distances of the vertices from one of them; those out of reach are farther than all others.
  Distances distances(int from) const {
    const int unknown = graph_.size();
    Distances found(static_cast<std::size_t>(graph_.size()), unknown);
    std::vector<int> queue{from};
    found[static_cast<std::size_t>(from)] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const int v = queue[next];
      for (const auto& [to, weight] : graph_.neighbours(v)) {
        int& there = found[static_cast<std::size_t>(to)];
        if (weight == 0 || there != unknown || label_[static_cast<std::size_t>(to)] == kElsewhere) {
          continue;
        }
        there = found[static_cast<std::size_t>(v)] + 1;
        queue.push_back(to);
      }
    }
    return found;
  }

  /// Each as far as can be from those before it.
  std::vector<Distances> landmarks() const {
    std::vector<Distances> all;
    const Distances start = distances(vertices_.front());
    std::vector<std::int64_t> nearest(start.begin(), start.end());
    for (std::size_t i = 0; i < std::min(kLandmarks, vertices_.size()); ++i) {
      const int farthest = *std::max_element(vertices_.begin(), vertices_.end(), [&](int a, int b) {
        return nearest[static_cast<std::size_t>(a)] < nearest[static_cast<std::size_t>(b)];
      });
      all.push_back(distances(farthest));
      if (i == 0) std::fill(nearest.begin(), nearest.end(), std::numeric_limits<int>::max());
      for (const int v : vertices_) {
        const auto at = static_cast<std::size_t>(v);
        nearest[at] = std::min<std::int64_t>(nearest[at], all.back()[at]);
      }
    }
    return all;
  }

  template <class Key>
  void try_order(std::size_t count, Key&& key, std::vector<Candidate>& all) {
    std::vector<int> order = vertices_;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    order.resize(count);
    Candidate candidate{0, std::move(order)};
    apply(candidate);
    candidate.cut = cut_here();
    all.push_back(std::move(candidate));
  }

  void apply(const Candidate& candidate) {
    for (const int v : vertices_) label_[static_cast<std::size_t>(v)] = 1;
    for (const int v : candidate.first) label_[static_cast<std::size_t>(v)] = 0;
  }
  Candidate taken() const {
    Candidate now{cut_here(), {}};
    for (const int v : vertices_) {
      if (label_[static_cast<std::size_t>(v)] == 0) now.first.push_back(v);
    }
    return now;
  }
  std::int64_t cut_here() const {
    std::int64_t sum = 0;
    for (const int v : vertices_) {
      if (label_[static_cast<std::size_t>(v)] != 0) continue;
      for (const auto& [to, weight] : graph_.neighbours(v)) {
        if (label_[static_cast<std::size_t>(to)] == 1) sum += weight;
      }
    }
    return sum;
  }

  const Graph& graph_;
  std::vector<int> vertices_;
  std::vector<int>& label_;
};

/// Gives `vertices` the parts from `first` on, of `sizes`.
void divide(const Graph& graph, const std::vector<int>& vertices, int first,
            std::span<const std::size_t> sizes, std::vector<int>& part) {
  if (vertices.empty()) return;
  if (sizes.size() == 1) {
    for (const int v : vertices) part[static_cast<std::size_t>(v)] = first;
    return;
  }
  const std::size_t half = sizes.size() / 2;
  const std::size_t count =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<int>(half), std::size_t{0});
  std::vector<int> label(static_cast<std::size_t>(graph.size()), kElsewhere);
  for (const int v : vertices) label[static_cast<std::size_t>(v)] = 0;
  Bisection(graph, vertices, label).run(count);
  std::array<std::vector<int>, 2> sides;
  for (const int v : vertices) {
    sides.at(static_cast<std::size_t>(label[static_cast<std::size_t>(v)])).push_back(v);
  }
  divide(graph, sides[0], first, sizes.first(half), part);
  divide(graph, sides[1], first + static_cast<int>(half), sizes.subspan(half), part);
}

}  // namespace

Graph::Graph(int size, std::span<const Edge> edges) {
  std::vector<Edge> both;
  both.reserve(2 * edges.size());
  for (const Edge& edge : edges) {
    if (edge.from == edge.to) continue;
    both.push_back(edge);
    both.push_back({edge.to, edge.from, edge.weight});
  }
  std::sort(both.begin(), both.end(), [](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  begin_.reserve(static_cast<std::size_t>(size) + 1);
  auto next = both.begin();
  for (int v = 0; v < size; ++v) {
    begin_.push_back(neighbours_.size());
    for (; next != both.end() && next->from == v; ++next) {
      if (neighbours_.size() > begin_.back() && neighbours_.back().to == next->to) {
        neighbours_.back().weight += next->weight;
      } else {
        neighbours_.push_back({next->to, next->weight});
      }
    }
  }
  begin_.push_back(neighbours_.size());
}

std::int64_t cut(const Graph& graph, std::span<const int> part) {
  std::int64_t sum = 0;
  for (int v = 0; v < graph.size(); ++v) {
    for (const auto& [to, weight] : graph.neighbours(v)) {
      if (v < to && part[static_cast<std::size_t>(v)] != part[static_cast<std::size_t>(to)]) {
        sum += weight;
      }
    }
  }
  return sum;
}

std::vector<int> partition(const Graph& graph, std::span<const int> given) {
  std::vector<int> kept(given.begin(), given.end());
  if (kept.empty()) return kept;
  std::vector<std::size_t> sizes(
      static_cast<std::size_t>(*std::max_element(kept.begin(), kept.end())) + 1);
  for (const int p : kept) ++sizes[static_cast<std::size_t>(p)];
  std::vector<int> vertices(kept.size());
  std::iota(vertices.begin(), vertices.end(), 0);
  std::vector<int> made(kept.size());
  divide(graph, vertices, 0, sizes, made);
  refine(graph, made);
  refine(graph, kept);
  if (cut(graph, made) < cut(graph, kept)) kept = std::move(made);
  // A change that is not better is not worth moving for.
  return cut(graph, kept) < cut(graph, given) ? kept : std::vector<int>(given.begin(), given.end());
}

}  // namespace isthmus::core
