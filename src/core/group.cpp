#include "core/group.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace isthmus::core {

namespace {

// Up to this many runs that overlap (even ranks, then odd ones) are searched one by one; with
// more, the group is held in runs of neighbours, which never overlap.
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

std::optional<int> Group::Run::rank_of(int world_rank) const {
  if (world_rank < low() || world_rank > high()) return std::nullopt;
  const int away = world_rank - world;
  if (away % stride != 0) return std::nullopt;
  return rank + away / stride;
}

void Group::append(int world_rank, bool any_stride) {
  if (!runs_.empty()) {
    Run& run = runs_.back();
    const int step = world_rank - run.last();
    const bool neighbour = step == 1 || step == -1;
    if (run.count == 1 ? any_stride || neighbour : step == run.stride) {
      run.stride = step;
      ++run.count;
      ++size_;
      return;
    }
  }
  runs_.push_back({.rank = size_, .count = 1, .world = world_rank, .stride = 1});
  ++size_;
}

// False when runs overlap.
bool Group::sort_runs() {
  by_world_.resize(runs_.size());
  std::iota(by_world_.begin(), by_world_.end(), 0U);
  std::sort(by_world_.begin(), by_world_.end(),
            [&](auto a, auto b) { return runs_[a].low() < runs_[b].low(); });
  for (std::size_t i = 1; i < by_world_.size(); ++i) {
    if (runs_[by_world_[i - 1]].high() >= runs_[by_world_[i]].low()) {
      by_world_.clear();
      return false;
    }
  }
  return true;
}

Group Group::trusted(std::span<const int> world_ranks) {
  Group group;
  for (const int r : world_ranks) group.append(r, true);
  if (!group.sort_runs() && group.runs_.size() > kScannedRuns) {
    group = Group();
    for (const int r : world_ranks) group.append(r, false);
    group.sort_runs();
  }
  group.runs_.shrink_to_fit();
  return group;
}

Group Group::of(std::span<const int> world_ranks) {
  require_distinct({world_ranks.begin(), world_ranks.end()}, "world rank");
  return trusted(world_ranks);
}

Group Group::range(int first, int count) {
  if (first < 0 || count < 0 || first > INT32_MAX - count) {
    throw std::invalid_argument("a group cannot hold " + std::to_string(count) +
                                " ranks from world rank " + std::to_string(first) + " on");
  }
  Group group;
  if (count > 0) {
    group.runs_.push_back({.rank = 0, .count = count, .world = first, .stride = 1});
    group.by_world_.push_back(0);
    group.size_ = count;
  }
  return group;
}

int Group::world_rank(int rank) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), rank,
                                      [](int r, const Run& run) { return r < run.rank; });
  const Run& run = *std::prev(after);
  return run.world + (rank - run.rank) * run.stride;
}

std::optional<int> Group::rank_of(int world_rank) const {
  if (by_world_.empty()) {
    for (const Run& run : runs_) {
      if (const auto rank = run.rank_of(world_rank)) return rank;
    }
    return std::nullopt;
  }
  const auto after =
      std::upper_bound(by_world_.begin(), by_world_.end(), world_rank,
                       [&](int r, std::uint32_t index) { return r < runs_[index].low(); });
  if (after == by_world_.begin()) return std::nullopt;
  return runs_[*std::prev(after)].rank_of(world_rank);
}

std::vector<int> Group::ranks() const {
  std::vector<int> all;
  all.reserve(static_cast<std::size_t>(size_));
  for (const Run& run : runs_) {
    for (int i = 0; i < run.count; ++i) all.push_back(run.world + i * run.stride);
  }
  return all;
}

Likeness Group::compare(const Group& other) const {
  if (runs_ == other.runs_) return Likeness::Identical;
  if (size_ != other.size_) return Likeness::Unequal;
  for (const int r : ranks()) {
    if (!other.rank_of(r)) return Likeness::Unequal;
  }
  return Likeness::Similar;
}

Group Group::unite(const Group& other) const {
  std::vector<int> all = ranks();
  for (const int r : other.ranks()) {
    if (!rank_of(r)) all.push_back(r);
  }
  return trusted(all);
}

Group Group::intersect(const Group& other) const {
  std::vector<int> all = ranks();
  std::erase_if(all, [&](int r) { return !other.rank_of(r); });
  return trusted(all);
}

Group Group::subtract(const Group& other) const {
  std::vector<int> all = ranks();
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
  for (const int r : ranks) chosen.push_back(world_rank(r));
  return trusted(chosen);
}

Group Group::exclude(std::span<const int> ranks) const {
  const std::vector<int> gone = checked(ranks);
  const std::vector<int> all = this->ranks();
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
