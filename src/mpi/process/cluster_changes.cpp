#include "mpi/process/cluster_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>

namespace isthmus::face {

ClusterChanges& ClusterChanges::all() {
  static auto* const only = new ClusterChanges;
  return *only;
}

void ClusterChanges::begin(const char* spares) {
  const core::Lock lock(mutex_);
  std::istringstream names(spares == nullptr ? "" : spares);
  for (std::string name; std::getline(names, name, ',');) spares_.push_back(name);
}

void ClusterChanges::add(net::ClusterChange kind, const std::string& cluster,
                         const std::string& why) {
  const core::Lock lock(mutex_);
  const bool is_known = std::ranges::find(spares_, cluster) != spares_.end();
  if (kind == net::ClusterChange::Joined && !is_known) spares_.push_back(cluster);
  changes_.push_back({kind, cluster, why});
  count_.store(static_cast<int>(changes_.size()), std::memory_order_release);
}

const ClusterChanges::Change* ClusterChanges::at(int number) const {
  const core::Lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < changes_.size() ? &changes_[index] : nullptr;
}

std::vector<std::string> ClusterChanges::spares() const {
  const core::Lock lock(mutex_);
  return spares_;
}

}  // namespace isthmus::face
