// The messages that one thread sent, by receiver.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "core/base/mutex.hpp"
#include "mpi/profile/sizes.hpp"

namespace isthmus::face::profile {

class Rows {
 public:
  /// The number of receivers with a row of their own, 400 bytes each; the others share one.
  static constexpr std::size_t kMost = 4096;
  static constexpr int kOthers = -1;

  /// The row of a world rank; of kOthers too. It stays in place. On the owner's thread, which reads
  /// without the mutex what it alone changes.
  Sizes& of(int world_rank) NO_THREAD_SAFETY_ANALYSIS;
  /// On any thread.
  void each(const std::function<void(int world_rank, const Sizes&)>& use) const;

 private:
  mutable core::Mutex mutex_;  // while the table changes, and while another thread reads it
  std::unordered_map<int, std::unique_ptr<Sizes>> rows_ GUARDED_BY(mutex_);
  Sizes others_;
};

}  // namespace isthmus::face::profile
