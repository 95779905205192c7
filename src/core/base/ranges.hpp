// The numbers of a growing set that have been seen, mostly in order: a few disjoint ranges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace isthmus::core {

/// Half-open ranges [begin, end), ascending, neither overlapping nor touching.
class Ranges {
 public:
  /// O(1) for a range after the last one; else O(number of ranges).
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    if (!ranges_.empty() && ranges_.back().end == begin) {
      ranges_.back().end = end;
      return;
    }
    // The ranges that touch or overlap become one.
    const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](const Range& r) { return r.end < begin; });
    const auto last =
        std::partition_point(first, ranges_.end(), [&](const Range& r) { return r.begin <= end; });
    if (first == last) {
      ranges_.insert(first, {begin, end});
      return;
    }
    first->begin = std::min(first->begin, begin);
    first->end = std::max(std::prev(last)->end, end);
    ranges_.erase(std::next(first), last);
  }

  /// All of [begin, end) has been added.
  bool contains(std::uint64_t begin, std::uint64_t end) const {
    const auto after = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](const Range& r) { return r.begin <= begin; });
    return begin >= end || (after != ranges_.begin() && std::prev(after)->end >= end);
  }

  /// Some of [begin, end) has been added.
  bool overlaps(std::uint64_t begin, std::uint64_t end) const {
    const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](const Range& r) { return r.end <= begin; });
    return begin < end && first != ranges_.end() && first->begin < end;
  }

  /// Behind the last number; 0 without one.
  std::uint64_t end() const { return ranges_.empty() ? 0 : ranges_.back().end; }
  std::size_t size() const { return ranges_.size(); }
  /// All numbers below it have been added.
  std::uint64_t first_missing() const {
    return ranges_.empty() || ranges_.front().begin > 0 ? 0 : ranges_.front().end;
  }

  /// Calls `take` with begin and end of each range.
  template <class Take>
  void each(Take take) const {
    for (const Range& range : ranges_) take(range.begin, range.end);
  }

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<Range> ranges_;
};

}  // namespace isthmus::core
