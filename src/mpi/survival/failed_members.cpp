#include "mpi/survival/failed_members.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

core::RankSet members_in(const core::Group& group, std::span<const std::size_t> clusters) {
  core::RankSet found(group.size());
  if (clusters.empty()) return found;
  const core::World& world = grid()->world();
  int rank = 0;
  for (const int node : group.nodes()) {
    const std::size_t cluster = world.cluster_of(node);
    if (std::find(clusters.begin(), clusters.end(), cluster) != clusters.end()) found.add(rank);
    ++rank;
  }
  return found;
}

core::Group failed_group(const core::Group& group, std::span<const std::size_t> clusters) {
  std::vector<int> ranks;
  for (const std::size_t cluster : clusters) {
    const std::vector<int> members = members_in(group, std::span(&cluster, 1)).ranks();
    ranks.insert(ranks.end(), members.begin(), members.end());
  }
  return group.include(ranks);
}

std::string why_failed(const core::Group& group, const core::RankSet& failed) {
  std::set<std::size_t> clusters;
  for (const int rank : failed.ranks()) {
    clusters.insert(grid()->world().cluster_of(group.node(rank)));
  }
  std::string sentence;
  for (const std::size_t cluster : clusters) {
    const std::string why = FailedClusters::all().why(cluster);
    if (!sentence.empty()) sentence += "; ";
    sentence +=
        why.empty() ? "cluster \"" + grid()->world().clusters[cluster].name + "\" has failed" : why;
  }
  return sentence;
}

}  // namespace isthmus::face
