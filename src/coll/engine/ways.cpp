#include "coll/engine/ways.hpp"

#include <algorithm>

namespace isthmus::coll {
namespace {

/// A way is near if it takes at most this part of the longest. Going up and down within a group
/// then adds at most a quarter.
constexpr double kNear = 0.125;

}  // namespace

Ways::Ways(const Layout& layout, const Network& network)
    : network_(network), clusters_(layout.clusters()) {
  const auto clusters = static_cast<std::size_t>(clusters_);
  ways_.assign(clusters * clusters, {network.wan_latency, network.wan_bandwidth});
  if (network.pairs == nullptr) return;
  const auto& known = network.pairs->ways;
  for (int a = 0; a < clusters_; ++a) {
    for (int b = 0; b < clusters_; ++b) {
      const auto pair = std::minmax({layout.number_of(a), layout.number_of(b)});
      const auto found = std::ranges::lower_bound(
          known, pair, {}, [](const Pairs::Way& way) { return std::pair(way.a, way.b); });
      if (found == known.end() || std::pair(found->a, found->b) != pair) continue;
      Way& way = ways_[static_cast<std::size_t>(a) * clusters + static_cast<std::size_t>(b)];
      if (found->latency > 0) way.latency = found->latency;
      if (found->bandwidth > 0) way.bandwidth = found->bandwidth;
    }
  }
  find_shared(layout);
  for (int a = 0; a < clusters_; ++a) {
    for (int b = 0; b < a; ++b) {
      const Way& way = at(a, b);
      const Way& first = at(1, 0);
      differ_ = differ_ || way.latency != first.latency || way.bandwidth != first.bandwidth;
    }
  }
  differ_ = differ_ || !shared_.empty();
}

/// Finds the stretches that at least two pairs of this layout share.
void Ways::find_shared(const Layout& layout) {
  for (const Pairs::Shared& stretch : network_.pairs->shared) {
    Shared here{stretch.bandwidth, {}};
    for (int a = 0; a < clusters_; ++a) {
      for (int b = a + 1; b < clusters_; ++b) {
        const auto pair = std::minmax({layout.number_of(a), layout.number_of(b)});
        if (std::ranges::find(stretch.pairs, std::pair<int, int>(pair)) != stretch.pairs.end()) {
          here.pairs.emplace_back(a, b);
        }
      }
    }
    if (here.pairs.size() == 1) {  // as if it were that pair's own
      for (const auto& [a, b] :
           {here.pairs[0], std::pair(here.pairs[0].second, here.pairs[0].first)}) {
        Way& way = ways_[static_cast<std::size_t>(a) * static_cast<std::size_t>(clusters_) +
                         static_cast<std::size_t>(b)];
        way.bandwidth = std::min(way.bandwidth, here.bandwidth);
      }
    }
    if (here.pairs.size() > 1) shared_.push_back(std::move(here));
  }
}

double Ways::rate(int a, int b, int senders) const {
  const int ways = network_.paths == 0 ? senders : std::min(senders, network_.paths);
  double rate = std::min(at(a, b).bandwidth, std::max(ways, 1) * network_.link_bandwidth);
  const auto pair = std::pair<int, int>(std::minmax({a, b}));
  for (const Shared& stretch : shared_) {
    if (std::ranges::find(stretch.pairs, pair) != stretch.pairs.end()) {
      rate = std::min(rate, stretch.bandwidth);
    }
  }
  return rate;
}

double Ways::distance(int a, int b, std::size_t bytes) const {
  return at(a, b).latency + static_cast<double>(bytes) / rate(a, b, 1);
}

double Ways::distance_of_many(int a, int b, std::size_t bytes) const {
  return at(a, b).latency + static_cast<double>(bytes) / at(a, b).bandwidth;
}

Network Ways::worst(int home) const {
  Network worst = network_;
  if (clusters_ < 2) return worst;
  worst.wan_latency = 0;
  bool first = true;
  const auto taken = [home](int a, int b) { return home < 0 || a == home || b == home; };
  for (int a = 0; a < clusters_; ++a) {
    for (int b = a + 1; b < clusters_; ++b) {
      if (!taken(a, b)) continue;
      worst.wan_latency = std::max(worst.wan_latency, at(a, b).latency);
      worst.wan_bandwidth =
          first ? at(a, b).bandwidth : std::min(worst.wan_bandwidth, at(a, b).bandwidth);
      first = false;
    }
  }
  for (const Shared& stretch : shared_) {
    const auto users = std::ranges::count_if(
        stretch.pairs, [&](const auto& pair) { return taken(pair.first, pair.second); });
    if (users == 0) continue;
    worst.wan_bandwidth =
        std::min(worst.wan_bandwidth, stretch.bandwidth / static_cast<double>(users));
  }
  return worst;
}

ClusterTree::ClusterTree(const Ways& ways, int root, std::size_t bytes)
    : ClusterTree(ways, root, bytes, &Ways::distance, !ways.differ()) {}

ClusterTree ClusterTree::of_many(const Ways& ways, int root, std::size_t bytes) {
  return {ways, root, bytes, &Ways::distance_of_many, !ways.differ()};
}

ClusterTree ClusterTree::star(const Ways& ways, int root, std::size_t bytes) {
  return {ways, root, bytes, &Ways::distance, true};
}

ClusterTree::ClusterTree(const Ways& ways, int root, std::size_t bytes, Distance distance,
                         bool star)
    : root_(root),
      parents_(static_cast<std::size_t>(ways.clusters()), root),
      children_(static_cast<std::size_t>(ways.clusters())) {
  parents_[static_cast<std::size_t>(root)] = -1;
  std::vector<int> order;
  for (int c = 0; c < ways.clusters(); ++c) {
    if (c != root) order.push_back(c);
  }
  const auto far = [&](int a, int b) { return (ways.*distance)(a, b, bytes); };
  const auto farther = [&far](int from) {
    return [&far, from](int a, int b) { return far(from, a) > far(from, b); };
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return farther(root)(b, a); });
  std::vector<double> arrivals(static_cast<std::size_t>(ways.clusters()), 0);
  std::vector<int> reached{root};
  for (const int c : order) {
    double least = 0;
    for (const int from : star ? std::vector<int>{root} : reached) {
      const double way = far(from, c);
      const double arrival = arrivals[static_cast<std::size_t>(from)] + way;
      const double worth = arrival + kWorth * way;
      if (from != root && worth >= least) continue;
      least = worth;
      parents_[static_cast<std::size_t>(c)] = from;
      arrivals[static_cast<std::size_t>(c)] = arrival;
    }
    const int from = parent(c);
    length_ += far(from, c);
    children_[static_cast<std::size_t>(from)].push_back(c);
    reached.push_back(c);
  }
  for (int c = 0; c < ways.clusters(); ++c) {
    auto& children = children_[static_cast<std::size_t>(c)];
    std::stable_sort(children.begin(), children.end(), farther(c));
  }
}

std::vector<int> ClusterTree::below(int cluster) const {
  std::vector<int> found{cluster};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& next = children(found[i]);
    found.insert(found.end(), next.begin(), next.end());
  }
  return found;
}

int ClusterTree::depth(int cluster) const {
  int depth = 0;
  for (int c = cluster; c != root_; c = parent(c)) ++depth;
  return depth;
}

bool ClusterTree::is_star() const {
  return std::ranges::all_of(parents_,
                             [this](int parent) { return parent < 0 || parent == root_; });
}

ClusterGroups::ClusterGroups(const Ways& ways, std::size_t bytes) {
  double longest = 0;
  for (int a = 0; a < ways.clusters(); ++a) {
    for (int b = 0; b < a; ++b) longest = std::max(longest, ways.distance_of_many(a, b, bytes));
  }
  for (int c = 0; c < ways.clusters(); ++c) {
    int head = c;
    for (int h = 0; h < c && head == c && ways.differ(); ++h) {
      if (is_head(h) && ways.distance_of_many(h, c, bytes) <= kNear * longest) head = h;
    }
    heads_.push_back(head);
  }
}

std::vector<int> ClusterGroups::group_of(int head) const {
  std::vector<int> group;
  for (int c = 0; c < static_cast<int>(heads_.size()); ++c) {
    if (this->head(c) == head) group.push_back(c);
  }
  return group;
}

std::vector<int> ClusterGroups::others_in_group(int head) const {
  std::vector<int> others = group_of(head);
  std::erase(others, head);
  return others;
}

std::vector<int> ClusterGroups::all_heads() const {
  std::vector<int> found;
  for (int c = 0; c < static_cast<int>(heads_.size()); ++c) {
    if (is_head(c)) found.push_back(c);
  }
  return found;
}

bool ClusterGroups::trivial() const { return all_heads().size() == heads_.size(); }

}  // namespace isthmus::coll
