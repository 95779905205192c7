// The ranges of tags for new communicators. A communicator's members in one cluster agree on one
// that is free on all of them. No MPI: the caller moves the words.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace isthmus::face {

/// The ranges that no communicator of this process has, in blocks of 64. For any thread, without
/// locks.
class FreeRanges {
 public:
  explicit FreeRanges(int number);
  int blocks() const { return static_cast<int>(free_.size()); }
  /// Takes all of a block that are free: bit i is range 64 * block + i.
  std::uint64_t take(int block);
  void give_back(int block, std::uint64_t ranges);
  void give_back(int range) { give_back(range / kBlock, std::uint64_t{1} << range % kBlock); }
  /// Takes one that is free.
  void take_one(int range);

 private:
  friend class RangeSearch;
  static constexpr int kBlock = 64;
  std::vector<std::atomic<std::uint64_t>> free_;
};

/// One new communicator's search. In each round every member offers the ranges that it could take,
/// and all learn what is common to the offers. A member's offered ranges are reserved meanwhile. So
/// searches of several threads, and of communicators that share members, find different ranges.
class RangeSearch {
 public:
  /// `seed` is the same on all members, and another one for other communicators: searches begin at
  /// different places.
  RangeSearch(FreeRanges& free, std::uint64_t seed);
  ~RangeSearch();
  RangeSearch(const RangeSearch&) = delete;
  RangeSearch& operator=(const RangeSearch&) = delete;

  std::uint64_t offer() const { return offered_; }
  /// `common`: the bits in the offers of all members. True when the search is over.
  bool settle(std::uint64_t common);
  /// The range that was found, the caller's to give back. Empty if the members' free ranges have
  /// none in common.
  std::optional<int> found() const { return found_; }

 private:
  int block() const;

  FreeRanges& free_;
  std::uint64_t seed_;
  int round_ = 0;
  std::uint64_t offered_ = 0;
  std::optional<int> found_;
};

}  // namespace isthmus::face
