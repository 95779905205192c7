// A party's last choices, by problem. Calculating the costs of all algorithms each time took 6 % of
// the total time of pw.x over two clusters on one host (November 2026: Quantum ESPRESSO, silicon,
// 60 points, four ranks on two cores, medians of six).
#pragma once

#include <array>
#include <cstddef>

#include "coll/engine/choose.hpp"

namespace isthmus::coll {

class RecentChoices {
 public:
  /// Null: it has to be made.
  const Choice* find(const Problem& problem, std::size_t capacity) const {
    const Entry& entry = entries_[place(problem)];
    const bool here = entry.choice.algorithm != nullptr && entry.problem == problem;
    return here && entry.capacity == capacity ? &entry.choice : nullptr;
  }
  /// `capacity` is that of the party's commons, as in Setting.
  void keep(const Problem& problem, std::size_t capacity, const Choice& choice) {
    entries_[place(problem)] = {problem, capacity, choice};
  }
  /// The layout, the network or the requests have changed.
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    Problem problem;
    std::size_t capacity = 0;
    Choice choice;
  };

  // Sizes differ in few bits, wherever these are; by multiplication all of them reach the top.
  static std::size_t place(const Problem& problem) {
    const std::size_t bytes = problem.bytes.value_or(0) * std::size_t{kKinds};
    const auto key = bytes + static_cast<std::size_t>(problem.kind);
    return (key * 0x9e3779b97f4a7c15U) >> (64 - kBits);
  }

  static constexpr int kBits = 4;
  std::array<Entry, std::size_t{1} << kBits> entries_{};
};

}  // namespace isthmus::coll
