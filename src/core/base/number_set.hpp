// A set of sequence numbers, kept as ranges; O(log ranges) to change in the middle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace isthmus::core {

class NumberSet {
 public:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  ///< first to last; they do not touch

  void add(std::uint64_t number) { add(number, number); }
  /// Adds first to last; some may be there already.
  void add(std::uint64_t first, std::uint64_t last) {
    if (first > last) return;
    auto at = ranges_.upper_bound(first);
    if (at == ranges_.begin() || std::prev(at)->second + 1 < first) {
      at = ranges_.emplace_hint(at, first, last);
    } else {
      --at;
    }
    at->second = std::max(at->second, last);
    for (auto next = std::next(at); next != ranges_.end() && next->first <= at->second + 1;) {
      at->second = std::max(at->second, next->second);
      next = ranges_.erase(next);
    }
  }

  void remove(std::uint64_t first, std::uint64_t last) {
    auto at = ranges_.upper_bound(first);
    if (at != ranges_.begin() && std::prev(at)->second >= first) --at;
    while (at != ranges_.end() && at->first <= last) {
      const auto [from, to] = *at;
      at = ranges_.erase(at);
      if (from < first) ranges_.emplace(from, first - 1);
      if (to > last) ranges_.emplace(last + 1, to);
    }
  }

  /// The range that holds the number, or the next one after it.
  Ranges::const_iterator from(std::uint64_t number) const {
    const auto after = ranges_.upper_bound(number);
    if (after != ranges_.begin() && std::prev(after)->second >= number) return std::prev(after);
    return after;
  }
  bool contains(std::uint64_t number) const {
    const auto at = from(number);
    return at != ranges_.end() && at->first <= number;
  }
  bool empty() const { return ranges_.empty(); }
  const Ranges& ranges() const { return ranges_; }
  void clear() { ranges_.clear(); }

 private:
  Ranges ranges_;
};

}  // namespace isthmus::core
