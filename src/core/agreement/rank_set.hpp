// A set of ranks of one communicator, for members that agree on who has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/wire/wire.hpp"

namespace isthmus::core {

/// Ranks are 0..size()-1. Sets that meet have the same size.
class RankSet {
 public:
  /// Empty.
  explicit RankSet(int size = 0);
  static RankSet all(int size);

  int size() const { return size_; }
  bool has(int rank) const;
  bool empty() const;
  void add(int rank);
  /// True: `other` has ranks that this set did not have.
  bool unite(const RankSet& other);
  void intersect(const RankSet& other);
  /// Whether `other` has all ranks of this set.
  bool within(const RankSet& other) const;
  /// The least rank that it lacks; size() if it has all.
  int first_missing() const;
  std::vector<int> ranks() const;  ///< ascending
  bool operator==(const RankSet&) const = default;

 private:
  int size_;
  std::vector<std::uint64_t> words_;  // bits beyond size_ are 0
};

/// As runs, since ranks of a cluster mostly follow each other.
void write_ranks(Writer& out, const RankSet& ranks);
/// Reads a set of that size. Empty: malformed.
std::optional<RankSet> read_ranks(Reader& in, int size);

}  // namespace isthmus::core
