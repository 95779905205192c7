// The revocation of a communicator, of which any member may fail. If a living member knows of it,
// all living members come to know. Others may fail meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/agreement/rank_set.hpp"

namespace isthmus::core {

/// A member's progress in the collectives of the communicator, which are numbered from 1. It begins
/// none after it has heard of the revocation.
struct Come {
  std::uint64_t begun = 0;  ///< the last that it takes part in, or that has ended well there
  std::uint64_t ended = 0;  ///< the last that has ended well there

  /// That of a member without the communicator: it has freed it, or has not made it yet.
  static Come unknown() { return {std::numeric_limits<std::uint64_t>::max(), 0}; }
  /// The message, and what it says; nothing if that is malformed.
  std::vector<std::byte> bytes() const;
  static std::optional<Come> read(std::span<const std::byte> bytes);
};

/// A member's part. Pure: its owner carries the messages. Each says how far its sender has come.
class Revocation {
 public:
  explicit Revocation(int me) : me_(me) {}

  /// The program revokes the communicator, or a message says so. Returns the members to which the
  /// message goes from here: the first time all but this one and those that have failed.
  std::vector<int> revoke(const RankSet& failed, const Come& mine) {
    std::vector<int> others;
    if (revoked()) return others;
    mine_ = mine;
    for (int rank = 0; rank < failed.size(); ++rank) {
      if (rank != me_ && !failed.has(rank)) others.push_back(rank);
    }
    return others;
  }
  bool revoked() const { return mine_.has_value(); }

  /// This member has answered before it had the communicator, as Come::unknown().
  void has_answered() { answered_ = true; }
  /// What it tells the others: all the same, or they would not come to the same verdict.
  Come told() const { return answered_ || !mine_ ? Come::unknown() : *mine_; }

  /// The message of another member. Only its first one counts.
  void hear(int rank, const Come& come) {
    if (heard_.size() <= static_cast<std::size_t>(rank)) heard_.resize(rank + 1UL);
    auto& place = heard_[static_cast<std::size_t>(rank)];
    if (!place) place = come;
  }

  /// The end of the collective that is under way here. If it has ended well at one member, it ends
  /// well at all living ones, unless one of them takes no part in it any more.
  enum class Verdict : std::uint8_t { Open, EndsWell, Ends };
  Verdict verdict(const RankSet& failed) const;

 private:
  int me_;
  std::optional<Come> mine_;
  bool answered_ = false;
  std::vector<std::optional<Come>> heard_;  // by rank; may be shorter
};

}  // namespace isthmus::core
