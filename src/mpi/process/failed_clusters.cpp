#include "mpi/process/failed_clusters.hpp"

#include <algorithm>

namespace isthmus::face {

FailedClusters& FailedClusters::all() {
  static auto* const only = new FailedClusters;
  return *only;
}

void FailedClusters::add(std::size_t cluster, const std::string& why) {
  const core::Lock lock(mutex_);
  const auto same = [cluster](const Failure& failure) { return failure.cluster == cluster; };
  if (std::any_of(failures_.begin(), failures_.end(), same)) return;
  failures_.push_back({cluster, why});
  count_.store(static_cast<std::uint32_t>(failures_.size()), std::memory_order_release);
}

bool FailedClusters::has(std::size_t cluster) const {
  if (count() == 0) return false;
  const core::Lock lock(mutex_);
  return std::any_of(failures_.begin(), failures_.end(),
                     [cluster](const Failure& failure) { return failure.cluster == cluster; });
}

std::vector<std::size_t> FailedClusters::first(std::uint32_t most) const {
  std::vector<std::size_t> clusters;
  const core::Lock lock(mutex_);
  for (const Failure& failure : failures_) {
    if (clusters.size() == most) break;
    clusters.push_back(failure.cluster);
  }
  return clusters;
}

std::string FailedClusters::why(std::size_t cluster) const {
  const core::Lock lock(mutex_);
  for (const Failure& failure : failures_) {
    if (failure.cluster == cluster) return failure.why;
  }
  return {};
}

}  // namespace isthmus::face
