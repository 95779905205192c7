// The exchange of vertices between two parts at a time.
#include <array>
#include <queue>
#include <set>
#include <utility>

#include "core/graph/partition.hpp"

namespace isthmus::core {
namespace {

// Rounds over all pairs of parts; the second rarely finds more.
constexpr int kRounds = 6;
// Swaps in a row that only made things worse, after which a pass ends: bounds its time.
constexpr std::size_t kPatience = 64;

/// One pass over two parts. The best vertex of either goes to the other, in turn and each once.
/// Then all swaps behind the best moment are taken back.
class Pass {
 public:
  Pass(const Graph& graph, std::span<int> part, std::array<int, 2> sides)
      : graph_(graph), part_(part), sides_(sides), gain_(part.size()), free_(part.size()) {}

  /// Returns the reduction of the cut.
  std::int64_t run(const std::array<std::vector<int>, 2>& members) {
    for (const auto& side : members) {
      for (const int v : side) queue(v);
    }
    std::int64_t sum = 0, best = 0;
    std::size_t kept = 0;
    std::vector<int> moved;
    while (moved.size() < kept + 2 * kPatience) {
      int v = -1;
      if (!take(0, v)) break;
      sum += gain_[static_cast<std::size_t>(v)];
      move(v);
      int back = -1;
      if (!take(1, back)) {
        put_back(v);
        break;
      }
      sum += gain_[static_cast<std::size_t>(back)];
      move(back);
      moved.insert(moved.end(), {v, back});
      if (sum > best) {
        best = sum;
        kept = moved.size();
      }
    }
    for (std::size_t i = kept; i < moved.size(); ++i) put_back(moved[i]);
    return best;
  }

 private:
  using Entry = std::pair<std::int64_t, int>;  // gain, and -vertex: the lower vertex comes first

  std::size_t side_of(int v) const {
    return part_[static_cast<std::size_t>(v)] == sides_[0] ? 0U : 1U;
  }
  void queue(int v) {
    const int own = part_[static_cast<std::size_t>(v)];
    const int other = sides_.at(1 - side_of(v));
    std::int64_t gain = 0;
    for (const auto& [to, weight] : graph_.neighbours(v)) {
      const int there = part_[static_cast<std::size_t>(to)];
      if (there == other) gain += weight;
      if (there == own) gain -= weight;
    }
    gain_[static_cast<std::size_t>(v)] = gain;
    free_[static_cast<std::size_t>(v)] = true;
    queues_.at(side_of(v)).emplace(gain, -v);
  }
  /// Entries of gains that have changed since are stale.
  bool take(std::size_t side, int& v) {
    auto& queue = queues_.at(side);
    while (!queue.empty()) {
      const auto [gain, minus] = queue.top();
      queue.pop();
      const auto at = static_cast<std::size_t>(-minus);
      if (!free_[at] || gain_[at] != gain || side_of(-minus) != side) continue;
      v = -minus;
      return true;
    }
    return false;
  }
  void move(int v) {
    put_back(v);
    free_[static_cast<std::size_t>(v)] = false;
    const int now = part_[static_cast<std::size_t>(v)];
    for (const auto& [to, weight] : graph_.neighbours(v)) {
      const auto at = static_cast<std::size_t>(to);
      if (!free_[at]) continue;
      gain_[at] += part_[at] == now ? -2 * weight : 2 * weight;
      if (weight != 0) queues_.at(side_of(to)).emplace(gain_[at], -to);
    }
  }
  /// To the other side.
  void put_back(int v) { part_[static_cast<std::size_t>(v)] = sides_.at(1 - side_of(v)); }

  const Graph& graph_;
  std::span<int> part_;
  std::array<int, 2> sides_;
  std::vector<std::int64_t> gain_;
  std::vector<bool> free_;
  std::array<std::priority_queue<Entry>, 2> queues_;
};

/// Pairs of parts between which something is cut.
std::set<std::pair<int, int>> neighbours(const Graph& graph, std::span<const int> part) {
  std::set<std::pair<int, int>> pairs;
  for (int v = 0; v < graph.size(); ++v) {
    const int own = part[static_cast<std::size_t>(v)];
    if (own < 0) continue;
    for (const auto& [to, weight] : graph.neighbours(v)) {
      const int other = part[static_cast<std::size_t>(to)];
      if (own < other && weight != 0) pairs.emplace(own, other);
    }
  }
  return pairs;
}

}  // namespace

void refine(const Graph& graph, std::span<int> part) {
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t gained = 0;
    for (const auto& [a, b] : neighbours(graph, part)) {
      std::array<std::vector<int>, 2> members;
      for (int v = 0; v < graph.size(); ++v) {
        const int own = part[static_cast<std::size_t>(v)];
        if (own == a || own == b) members.at(own == a ? 0 : 1).push_back(v);
      }
      gained += Pass(graph, part, {a, b}).run(members);
    }
    if (gained == 0) return;
  }
}

}  // namespace isthmus::core
