// Partial results of clusters on their way from cluster to cluster. Results of consecutive clusters
// are combined; all are combined if the order of operands does not matter. So a message carries a
// vector for each run of clusters, and both ends know which.
#pragma once

#include <deque>
#include <vector>

#include "coll/engine/buffer.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// The first and the last of clusters whose results are combined.
struct ClusterRun {
  int first, last;
  bool operator==(const ClusterRun&) const = default;
};

/// The runs of these clusters, in order; a single run if order does not matter (`loose`).
std::vector<ClusterRun> runs_of(std::vector<int> clusters, bool loose);

class ClusterRuns {
 public:
  /// Vectors of `size` bytes, `count` elements.
  ClusterRuns(Reduction& reduction, std::size_t count, bool loose);

  /// Memory for the results of these clusters, as in a message of them.
  Bytes expect(std::vector<int> clusters);
  /// The content of a message of all these clusters, when all expected results have come. Once.
  Bytes combine();

 private:
  struct Piece {
    ClusterRun run;
    Bytes vector;
  };
  Reduction& reduction_;
  std::size_t count_, size_;
  bool loose_;
  std::deque<Buffer> memory_;  // pieces point into it
  std::vector<Piece> pieces_;
};

}  // namespace isthmus::coll
