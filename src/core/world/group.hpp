// An ordered set of processes, by node, as MPI groups and communicators need it (MPI-4.1
// section 7.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isthmus::core {

/// The relation of two groups; the meanings of MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL.
enum class Likeness { Identical, Similar, Unequal };

/// Immutable. Holds runs of nodes with a stride, so a group that is contiguous (or contiguous in
/// each cluster) costs O(runs) memory, for any size.
class Group {
 public:
  Group() = default;
  /// Nodes must be distinct and not negative; throws std::invalid_argument otherwise.
  static Group of(std::span<const int> nodes);
  static Group range(int first, int count);

  int size() const { return size_; }
  /// Node of the member `rank`, 0 <= rank < size(). O(log runs).
  int node(int rank) const;
  /// Rank of a node in this group, or empty. O(log runs).
  std::optional<int> rank_of(int node) const;
  std::vector<int> nodes() const;  ///< in the order of ranks

  Likeness compare(const Group& other) const;
  Group unite(const Group& other) const;
  Group intersect(const Group& other) const;
  Group subtract(const Group& other) const;
  /// Both take distinct ranks of this group; they throw std::invalid_argument for others.
  Group include(std::span<const int> ranks) const;
  Group exclude(std::span<const int> ranks) const;

  /// First, last and stride, as in MPI_Group_range_incl. Expands to the ranks it names; throws
  /// std::invalid_argument for a zero stride or a last that the stride walks away from.
  struct Range {
    int first;
    int last;
    int stride;
  };
  static std::vector<int> expand(std::span<const Range> ranges);

 private:
  struct Run {
    int rank;    // of its first member in this group
    int count;   // members
    int begin;   // node of its first member
    int stride;  // between nodes; any sign, never 0; 1 when count is 1

    int last() const { return begin + (count - 1) * stride; }
    int low() const { return stride > 0 ? begin : last(); }
    int high() const { return stride > 0 ? last() : begin; }
    std::optional<int> rank_of(int node) const;
    bool operator==(const Run&) const = default;
  };

  static Group trusted(std::span<const int> nodes);  // known to be distinct
  void append(int node, bool any_stride);
  bool sort_runs();
  std::vector<int> checked(std::span<const int> ranks) const;

  // A function of the sequence of members alone, so equal groups have equal runs.
  std::vector<Run> runs_;
  std::vector<std::uint32_t> by_node_;  // indices of runs_ by low(), or empty: few, overlapping
  int size_ = 0;
};

}  // namespace isthmus::core
