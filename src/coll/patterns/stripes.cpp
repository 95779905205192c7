#include "coll/patterns/stripes.hpp"

#include <algorithm>
#include <utility>

#include "coll/engine/cost.hpp"
#include "coll/engine/segment_size.hpp"

namespace isthmus::coll {

Stripes::Stripes(const Layout& layout, int root, ClusterTree tree, bool chained,
                 const std::vector<int>& line)
    : layout_(layout),
      root_(root),
      home_(layout.cluster_of(root)),
      tree_(std::move(tree)),
      chained_(chained),
      others_(line),
      in_turns_(line.empty()) {
  for (const int rank : layout.members(home_)) {
    if (rank != root) relays_.push_back(rank);
  }
  if (relays_.empty()) relays_.push_back(root);
  for (int c = 0; c < layout.clusters() && line.empty(); ++c) {
    if (c != home_) others_.push_back(c);
  }
}

int Stripes::entry_at(std::size_t step, std::size_t k) const {
  const std::size_t first = in_turns_ ? k / relays_.size() : 0;
  return entry(others_[(first + step) % others_.size()], k);
}

std::size_t Stripes::step_of(int cluster, std::size_t k) const {
  const auto place =
      static_cast<std::size_t>(std::ranges::find(others_, cluster) - others_.begin());
  const std::size_t first = in_turns_ ? k / relays_.size() % others_.size() : 0;
  return (place + others_.size() - first) % others_.size();
}

int Stripes::source(int rank, std::size_t k) const {
  if (rank == root_) return -1;
  const int cluster = layout_.cluster_of(rank);
  const int first = cluster == home_ ? relay(k) : entry(cluster, k);
  if (first != rank) return first;
  if (cluster == home_) return root_;
  return sender(cluster, k);
}

int Stripes::sender(int cluster, std::size_t k) const {
  if (chained_) {
    const std::size_t step = step_of(cluster, k);
    return step == 0 ? relay(k) : entry_at(step - 1, k);
  }
  const int from = tree_.parent(cluster);
  return from == home_ ? relay(k) : entry(from, k);
}

int Stripes::crossings(int rank, std::size_t k) const {
  const int cluster = layout_.cluster_of(rank);
  if (cluster == home_) return 0;
  return chained_ ? static_cast<int>(step_of(cluster, k)) + 1 : tree_.depth(cluster);
}

std::vector<int> Stripes::targets(int rank, std::size_t k) const {
  std::vector<int> found;
  const int cluster = layout_.cluster_of(rank);
  if (rank == root_ && relay(k) != root_) return {relay(k)};
  if (cluster == home_ ? relay(k) != rank : entry(cluster, k) != rank) return found;
  if (chained_) {
    const std::size_t step = cluster == home_ ? 0 : step_of(cluster, k) + 1;
    if (step < others_.size()) found.push_back(entry_at(step, k));
  } else {
    for (const int c : tree_.children(cluster)) found.push_back(entry(c, k));
  }
  const auto members = layout_.members(cluster);
  const auto size = members.size();
  const auto me = static_cast<std::size_t>(layout_.index_of(rank));
  for (std::size_t i = 1; i < size; ++i) {  // the next one first, so that they do not collide
    const int other = members[(me + i) % size];
    if (other != root_) found.push_back(other);
  }
  return found;
}

ClusterTree tree_of_stripes(const Layout& layout, const Network& network, int root,
                            std::size_t bytes) {
  return ClusterTree::of_many(Ways(layout, network), layout.cluster_of(root), bytes);
}

std::vector<int> line_of_stripes(const Ways& ways, int home, std::size_t bytes) {
  std::vector<int> line, left;
  if (!ways.differ()) return line;
  for (int c = 0; c < ways.clusters(); ++c) {
    if (c != home) left.push_back(c);
  }
  for (int at = home; !left.empty(); at = line.back()) {
    const auto nearest = std::ranges::min_element(
        left, {}, [&](int c) { return ways.distance_of_many(at, c, bytes); });
    line.push_back(*nearest);
    left.erase(nearest);
  }
  return line;
}

namespace {

// The most idle time of wires that lack segments, as a part of the time that they need. A whole
// message keeps them full, and much wider links leave little else to gain (3 x 3 nodes with
// unshaped links, two processors for all: 3.2 MB 104 ms striped, 71 whole; 32 MB 527 and 362;
// November 2026). More than a tenth would make wrong figures costly.
constexpr double kIdle = 0.1;

}  // namespace

double cost_of_stripes(const Setting& setting, const Parameters& parameters, double load,
                       double latency, double rate) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const std::size_t bytes = setting.bytes();
  const std::size_t segment = striped_segment(setting.layout, network, bytes, parameters);
  const double segments = static_cast<double>(bytes) / static_cast<double>(segment);
  const double links = link_time(network, bytes) * load;
  const double wires = (1 + kIdle) * static_cast<double>(bytes) / rate;
  const double handling = segments * 2 * network.stream_cost;
  const double fill = (members + 1) * (link_time(network, std::min(segment, bytes)));
  return latency + 2 * network.link_latency + std::max({links, wires, handling}) + fill +
         (members + 2) * network.message_cost;
}

}  // namespace isthmus::coll
