// The held receives of one communicator, by the messages that they could match. Finds the receive
// posted first among all that match a message, in constant time. Knows no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "core/base/intrusive_list.hpp"
#include "core/wire/message.hpp"

namespace isthmus::face {

/// The messages that a receive matches: a source or core::kAnySource, a tag or core::kAnyTag.
struct Pattern {
  int source = core::kAnySource;
  int tag = core::kAnyTag;
  bool operator==(const Pattern&) const = default;
};

/// A receive in a HeldIndex. The owner keeps it in place while it is there.
struct HeldEntry {
  explicit HeldEntry(Pattern pattern_) : pattern(pattern_) {}
  const Pattern pattern;
  std::uint64_t turn = 0;  ///< its place in the order of posting; 0: not in the index
  core::Links<HeldEntry> links;
};

class HeldIndex {
 public:
  HeldIndex() = default;
  HeldIndex(const HeldIndex&) = delete;
  HeldIndex& operator=(const HeldIndex&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Puts `entry` last.
  void add(HeldEntry& entry);
  void erase(HeldEntry& entry);

  /// The first entry that matches a message, or null.
  HeldEntry* first_for(int source, int tag) const;
  /// Whether some message could match both an entry and `pattern`, whose source is named.
  bool overlaps(Pattern pattern) const;
  /// A pattern that some entry has; in turn, each of them. The index is not empty.
  Pattern next_pattern();
  /// Number of distinct patterns.
  std::size_t patterns() const { return patterns_; }

 private:
  struct Bucket {
    core::IntrusiveList<HeldEntry, &HeldEntry::links> entries;
    core::Links<Bucket> links;
    Pattern pattern;
  };
  struct Hash {
    std::size_t operator()(const Pattern& p) const {
      const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(p.source)) << 32 |
                        static_cast<std::uint32_t>(p.tag);
      return static_cast<std::size_t>((both * 0x9E37'79B9'7F4A'7C15ULL) >> 16);
    }
  };
  HeldEntry* front(Pattern pattern) const;

  std::unordered_map<Pattern, Bucket, Hash> buckets_;
  core::IntrusiveList<Bucket, &Bucket::links> ring_;  // of those that are not empty
  std::unordered_map<int, std::size_t> by_source_;    // number of entries
  std::size_t size_ = 0, patterns_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace isthmus::face
