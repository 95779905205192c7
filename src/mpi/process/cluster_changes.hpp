// The changes of clusters while this process runs: isthmus_change of isthmus.h.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "core/base/mutex.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::face {

/// All changes of which this process has heard, in that order. Any thread may call. Their number is
/// bounded: the launcher limits how many clusters join, and each failure is one of a known cluster.
class ClusterChanges {
 public:
  struct Change {
    net::ClusterChange kind;
    std::string cluster, why;
  };

  /// The only one; never destroyed.
  static ClusterChanges& all();

  /// Spare clusters that this process knows from its start, separated by commas; may be null.
  void begin(const char* spares);
  /// On the I/O thread; no MPI is called. Spawned processes also hear which spare clusters have
  /// joined or left before their start: all processes can agree on what they have heard.
  void add(net::ClusterChange kind, const std::string& cluster, const std::string& why);

  int count() const { return count_.load(std::memory_order_acquire); }
  /// Null: there is none with this number. Else it lives as long as the process.
  const Change* at(int number) const;
  /// All spare clusters that there have been, the first ones first. None is taken away.
  std::vector<std::string> spares() const;

 private:
  std::atomic<int> count_{0};
  mutable core::Mutex mutex_;
  std::deque<Change> changes_ GUARDED_BY(mutex_);
  std::vector<std::string> spares_ GUARDED_BY(mutex_);
};

}  // namespace isthmus::face
