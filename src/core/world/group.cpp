#include "core/world/group.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace isthmus::core {

namespace {

// Up to this many runs that overlap (even ranks, then odd ones) are searched one by one. A group
// with more is held in runs of neighbours, which never overlap.
constexpr std::size_t kScannedRuns = 8;

void require_distinct(std::vector<int> values, const char* what) {
  std::sort(values.begin(), values.end());
  if (!values.empty() && values.front() < 0) {
    throw std::invalid_argument(std::string(what) + " " + std::to_string(values.front()) +
                                " is negative");
  }
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) {
    throw std::invalid_argument(std::string(what) + " " + std::to_string(*twice) +
                                " is named twice");
  }
}

}  // namespace

std::optional<int> Group::Run::rank_of(int node) const {
  if (node < low() || node > high()) return std::nullopt;
  const int away = node - begin;
  if (away % stride != 0) return std::nullopt;
  return rank + away / stride;
}

void Group::append(int node, bool any_stride) {
  if (!runs_.empty()) {
    Run& run = runs_.back();
    const int step = node - run.last();
    const bool neighbour = step == 1 || step == -1;
    if (run.count == 1 ? any_stride || neighbour : step == run.stride) {
      run.stride = step;
      ++run.count;
      ++size_;
      return;
    }
  }
  runs_.push_back({.rank = size_, .count = 1, .begin = node, .stride = 1});
  ++size_;
}

// False when runs overlap.
bool Group::sort_runs() {
  by_node_.resize(runs_.size());
  std::iota(by_node_.begin(), by_node_.end(), 0U);
  std::sort(by_node_.begin(), by_node_.end(),
            [&](auto a, auto b) { return runs_[a].low() < runs_[b].low(); });
  for (std::size_t i = 1; i < by_node_.size(); ++i) {
    if (runs_[by_node_[i - 1]].high() >= runs_[by_node_[i]].low()) {
      by_node_.clear();
      return false;
    }
  }
  return true;
}

Group Group::trusted(std::span<const int> nodes) {
  Group group;
  for (const int node : nodes) group.append(node, true);
  if (!group.sort_runs() && group.runs_.size() > kScannedRuns) {
    group = Group();
    for (const int node : nodes) group.append(node, false);
    group.sort_runs();
  }
  group.runs_.shrink_to_fit();
  return group;
}

Group Group::of(std::span<const int> nodes) {
  require_distinct({nodes.begin(), nodes.end()}, "node");
  return trusted(nodes);
}

Group Group::range(int first, int count) {
  if (first < 0 || count < 0 || first > INT32_MAX - count) {
    throw std::invalid_argument("a group cannot hold " + std::to_string(count) +
                                " ranks from node " + std::to_string(first) + " on");
  }
  Group group;
  if (count > 0) {
    group.runs_.push_back({.rank = 0, .count = count, .begin = first, .stride = 1});
    group.by_node_.push_back(0);
    group.size_ = count;
  }
  return group;
}

int Group::node(int rank) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), rank,
                                      [](int r, const Run& run) { return r < run.rank; });
  const Run& run = *std::prev(after);
  return run.begin + (rank - run.rank) * run.stride;
}

std::optional<int> Group::rank_of(int node) const {
  if (by_node_.empty()) {
    for (const Run& run : runs_) {
      if (const auto rank = run.rank_of(node)) return rank;
    }
    return std::nullopt;
  }
  const auto after =
      std::upper_bound(by_node_.begin(), by_node_.end(), node,
                       [&](int r, std::uint32_t index) { return r < runs_[index].low(); });
  if (after == by_node_.begin()) return std::nullopt;
  return runs_[*std::prev(after)].rank_of(node);
}

std::vector<int> Group::nodes() const {
  std::vector<int> all;
  all.reserve(static_cast<std::size_t>(size_));
  for (const Run& run : runs_) {
    for (int i = 0; i < run.count; ++i) all.push_back(run.begin + i * run.stride);
  }
  return all;
}

Likeness Group::compare(const Group& other) const {
  if (runs_ == other.runs_) return Likeness::Identical;
  if (size_ != other.size_) return Likeness::Unequal;
  for (const int r : nodes()) {
    if (!other.rank_of(r)) return Likeness::Unequal;
  }
  return Likeness::Similar;
}

Group Group::unite(const Group& other) const {
  std::vector<int> all = nodes();
  for (const int r : other.nodes()) {
    if (!rank_of(r)) all.push_back(r);
  }
  return trusted(all);
}

Group Group::intersect(const Group& other) const {
  std::vector<int> all = nodes();
  std::erase_if(all, [&](int r) { return !other.rank_of(r); });
  return trusted(all);
}

Group Group::subtract(const Group& other) const {
  std::vector<int> all = nodes();
  std::erase_if(all, [&](int r) { return other.rank_of(r).has_value(); });
  return trusted(all);
}

// Sorted.
std::vector<int> Group::checked(std::span<const int> ranks) const {
  std::vector<int> sorted(ranks.begin(), ranks.end());
  require_distinct(sorted, "rank");
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= size_) {
    throw std::invalid_argument("rank " + std::to_string(sorted.back()) +
                                " is not in a group of size " + std::to_string(size_));
  }
  return sorted;
}

Group Group::include(std::span<const int> ranks) const {
  checked(ranks);
  std::vector<int> chosen;
  chosen.reserve(ranks.size());
  for (const int r : ranks) chosen.push_back(node(r));
  return trusted(chosen);
}

Group Group::exclude(std::span<const int> ranks) const {
  const std::vector<int> gone = checked(ranks);
  const std::vector<int> all = nodes();
  std::vector<int> kept;
  kept.reserve(all.size() - gone.size());
  auto next = gone.begin();
  for (int rank = 0; rank < size_; ++rank) {
    if (next != gone.end() && *next == rank) {
      ++next;
    } else {
      kept.push_back(all[static_cast<std::size_t>(rank)]);
    }
  }
  return trusted(kept);
}

std::vector<int> Group::expand(std::span<const Range> ranges) {
  std::vector<int> all;
  for (const Range& range : ranges) {
    const std::int64_t first = range.first;
    const std::int64_t last = range.last;
    const std::int64_t stride = range.stride;
    const std::string name = "range (" + std::to_string(first) + ", " + std::to_string(last) +
                             ", " + std::to_string(stride) + ")";
    if (stride == 0) throw std::invalid_argument(name + " has a stride of zero");
    if ((stride > 0 && last < first) || (stride < 0 && last > first)) {
      throw std::invalid_argument(name + " never reaches its last rank: its stride leads away");
    }
    for (std::int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      all.push_back(static_cast<int>(r));
    }
  }
  return all;
}

}  // namespace isthmus::core
