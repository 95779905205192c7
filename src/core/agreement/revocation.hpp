// The revocation of a communicator, of which any member may fail. If a living member knows of it,
// all living members come to know. Others may fail meanwhile.
#pragma once

#include <utility>
#include <vector>

#include "core/agreement/rank_set.hpp"

namespace isthmus::core {

/// A member's part. Pure: its owner carries the messages, which are empty.
class Revocation {
 public:
  explicit Revocation(int me) : me_(me) {}

  /// The program revokes the communicator, or a message says so. Returns the members to which the
  /// message goes from here: the first time all but this one and those that have failed.
  std::vector<int> revoke(const RankSet& failed) {
    std::vector<int> others;
    if (std::exchange(revoked_, true)) return others;
    for (int rank = 0; rank < failed.size(); ++rank) {
      if (rank != me_ && !failed.has(rank)) others.push_back(rank);
    }
    return others;
  }
  bool revoked() const { return revoked_; }

 private:
  int me_;
  bool revoked_ = false;
};

}  // namespace isthmus::core
