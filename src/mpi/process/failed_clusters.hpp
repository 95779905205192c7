// The clusters that have failed, in a run that goes on without them (isthmus run --survive).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/mutex.hpp"

namespace isthmus::face {

/// All that have failed in this process's run. Clusters are indices of World::clusters. Any thread
/// may call.
class FailedClusters {
 public:
  /// The only one; never destroyed.
  static FailedClusters& all();

  /// Clusters of this run may fail: read from ISTHMUS_SURVIVE in MPI_Init, before other threads.
  static void allow() { possible_ = true; }
  static bool possible() { return possible_; }

  /// A cluster has failed. The I/O thread calls it; no MPI is called.
  void add(std::size_t cluster, const std::string& why);
  /// How many have failed. One load: the check of every fast path.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  bool has(std::size_t cluster) const;
  /// The first failures, in the order in which this process heard of them: at most `most`.
  std::vector<std::size_t> first(std::uint32_t most) const;
  /// Why a cluster failed: a sentence with its name. Empty: it has not.
  std::string why(std::size_t cluster) const;

 private:
  struct Failure {
    std::size_t cluster;
    std::string why;
  };
  static inline bool possible_ = false;
  std::atomic<std::uint32_t> count_{0};
  mutable core::Mutex mutex_;
  std::vector<Failure> failures_ GUARDED_BY(mutex_);
};

}  // namespace isthmus::face
