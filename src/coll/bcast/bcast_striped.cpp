// The message in segments along striped trees (stripes.hpp): every member's link and all streams
// between the clusters are busy at once. After den Burger, Kielmann and Bal, "Balanced
// Multicasting", SC 2005 (several trees over clusters), with the trees' depth held at two inside
// a cluster.
#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "coll/bcast/bcast.hpp"
#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/looks.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/segment_size.hpp"
#include "coll/engine/segments.hpp"
#include "coll/patterns/stripes.hpp"

namespace isthmus::coll {
namespace {

constexpr std::size_t kPosted = 8;   // receives at a time from one source
constexpr std::size_t kUnsent = 64;  // sends under way of one forwarding task
// Segments on their way from the root to its relays at a time: one and a few more each. Other
// traffic on the link delays these (1 MiB over 16 nodes of 100 Mbit/s: 107.7 ms with 8 or 10, 109.4
// with 12, 111.6 with 64; November 2026).
constexpr std::size_t kToRelays = 8;
// A relay spreads its last segments in its own cluster only after all of them have crossed; this is
// their number. The way through the other cluster is longer, and segments queued earlier for its
// own cluster would delay it.
constexpr std::size_t kHeldBack = 2;

/// One rank's part.
class Striped {
 public:
  Striped(Party& party, Bytes data, int root, std::size_t segment, bool chained)
      : party_(party),
        data_(data),
        cut_(data.size(), segment),
        stripes_(party.layout(), root,
                 tree_of_stripes(party.layout(), party.network(), root, data.size()), chained,
                 line_of_stripes(Ways(party.layout(), party.network()),
                                 party.layout().cluster_of(root), data.size())) {}

  Task run() {
    if (party_.rank() == stripes_.root()) {
      co_await send_all();
      co_return;
    }
    std::set<Lane> lanes;
    for (std::size_t k = 0; k < cut_.count(); ++k) lanes.insert(lane_of(k));
    std::vector<Task> receiving;
    receiving.reserve(lanes.size());
    for (const Lane& lane : lanes) receiving.push_back(receive(lane));
    Pending all = all_of(std::move(receiving));
    co_await all;
  }

 private:
  /// Segments that arrive in order and that one task awaits: those from one source in the cluster,
  /// or all from elsewhere with the same number of crossings from the root. Either a rank or
  /// kElsewhere, and the crossings.
  using Lane = std::pair<int, int>;
  static constexpr int kElsewhere = -1;

  Bytes segment(std::size_t k) const { return cut_.of(data_, k); }

  Lane lane_of(std::size_t k) const {
    const int source = stripes_.source(party_.rank(), k);
    return {is_here(source) ? source : kElsewhere, stripes_.crossings(source, k)};
  }

  /// The tag of segment k from `source`. Later segments may overtake segments that have crossed
  /// more often.
  int tag(int source, std::size_t k) const { return tag_bcast_from(stripes_.crossings(source, k)); }

  /// The first segment of the lane from k on.
  std::size_t next_of(const Lane& lane, std::size_t k) const {
    while (k < cut_.count() && lane_of(k) != lane) ++k;
    return k;
  }

  bool is_here(int rank) const { return party_.layout().cluster_of(rank) == my_cluster(party_); }

  /// Whether a relay sends segment k to its own cluster only after its last one has crossed.
  bool holds_back(std::size_t k) const {
    return party_.rank() != stripes_.root() && is_here(stripes_.root()) &&
           party_.layout().clusters() > 1 && k + kHeldBack * stripes_.relays() >= cut_.count() &&
           k + stripes_.relays() < cut_.count();
  }

  void forward(std::size_t k, std::deque<Pending>& sends) {
    const auto targets = stripes_.targets(party_.rank(), k);
    if (targets.empty()) return;
    for (const int target : targets) {
      if (is_here(target)) {
        held_.emplace_back(k, target);
      } else {
        sends.push_back(party_.send(target, tag(party_.rank(), k), segment(k)));
      }
    }
    if (holds_back(k)) return;
    for (const auto& [held, target] : held_) {
      sends.push_back(party_.send(target, tag(party_.rank(), held), segment(held)));
    }
    held_.clear();
  }

  Task send_all() {
    const bool relayed = stripes_.relay(0) != stripes_.root();
    std::size_t most = relayed ? std::max(kToRelays, stripes_.relays() + 1) : kUnsent;
    std::deque<Pending> sends;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      if (relayed) {
        const int relay = stripes_.relay(k);
        sends.push_back(party_.send_synchronous(relay, tag(stripes_.root(), k), segment(k)));
      } else {
        forward(k, sends);
      }
      const auto room = [&] { return sends.size() < most + between_looks(party_, cut_.count()); };
      if (room()) continue;
      Pending turn = until([&] { return sends.front().done() || room(); });
      co_await turn;
      while (!sends.empty() && sends.front().done()) sends.pop_front();
      // All have gone: this process comes to look too seldom for so few.
      if (sends.empty()) most = std::min(2 * most, std::max(most, kUnsent));
    }
    for (auto& p : sends) co_await p;
  }

  Task receive(Lane lane) {
    std::deque<std::pair<std::size_t, Pending>> posted;
    std::deque<Pending> sends;
    std::size_t next = next_of(lane, 0);
    while (true) {
      while (posted.size() < kPosted && next < cut_.count()) {
        const int source = stripes_.source(party_.rank(), next);
        posted.emplace_back(next, party_.recv(source, tag(source, next), segment(next)));
        next = next_of(lane, next + 1);
      }
      if (posted.empty()) break;
      co_await posted.front().second;
      forward(posted.front().first, sends);
      posted.pop_front();
      while (!sends.empty() && (sends.size() > kUnsent || sends.front().done())) {
        co_await sends.front();
        sends.pop_front();
      }
    }
    for (auto& p : sends) co_await p;
  }

  Party& party_;
  Bytes data_;
  Segments cut_;
  Stripes stripes_;
  std::vector<std::pair<std::size_t, int>> held_;  // segments and targets
};

Task along_stripes(Party& party, Bytes data, int root, Parameters parameters, bool chained) {
  if (data.empty()) co_return;
  const std::size_t segment =
      striped_segment(party.layout(), party.network(), data.size(), parameters);
  Striped mine(party, data, root, segment, chained);
  co_await mine.run();
}

}  // namespace

static Task bcast_striped(Party& party, Bytes data, int root, Parameters parameters) {
  return along_stripes(party, data, root, parameters, false);
}

static Task bcast_chained(Party& party, Bytes data, int root, Parameters parameters) {
  return along_stripes(party, data, root, parameters, true);
}

namespace {

int further_clusters(const Setting& setting) { return std::max(0, setting.layout.clusters() - 2); }

double cost_bcast_chained(const Setting& setting, const Parameters& parameters) {
  const Network& network = setting.network;
  const double rate = wan_rate(network, largest_cluster(setting.layout));
  const int home = setting.problem.home;
  if (setting.ways != nullptr && home >= 0) {
    double latency = 0;
    int at = home;
    for (const int c : line_of_stripes(*setting.ways, home, setting.bytes())) {
      latency += setting.ways->latency(at, c);
      at = c;
    }
    return cost_of_stripes(setting, parameters, 1, latency, rate);
  }
  return cost_of_stripes(setting, parameters, 1, network.wan_latency, rate) +
         further_clusters(setting) * network.wan_latency + detours(setting, setting.bytes());
}

/// The cost along the tree, if ways differ.
double cost_along_tree(const Setting& setting, const Parameters& parameters) {
  const Ways& ways = *setting.ways;
  const int home = setting.problem.home;
  const int members = largest_cluster(setting.layout);
  const int relays = std::max(1, smallest_cluster(setting.layout) - 1);
  const ClusterTree tree = ClusterTree::of_many(ways, home, setting.bytes());
  double longest = 0, load = 1;
  for (int c = 0; c < ways.clusters(); ++c) {
    double latency = 0;
    for (int at = c; at != home; at = tree.parent(at)) latency += ways.latency(at, tree.parent(at));
    longest = std::max(longest, latency);
    const auto onward = static_cast<double>(tree.children(c).size()) - (c == home ? 1 : 0);
    load = std::max(load, 1 + onward / relays);
  }
  return cost_of_stripes(setting, parameters, load, longest, tree_rate(setting, tree, members));
}

}  // namespace

double cost_bcast_striped(const Setting& setting, const Parameters& parameters) {
  if (setting.ways != nullptr && setting.problem.home >= 0) {
    return cost_along_tree(setting, parameters);
  }
  // A relay's link carries one more crossing for each further cluster.
  const int relays = std::max(1, smallest_cluster(setting.layout) - 1);
  const Network& network = setting.network;
  return cost_of_stripes(setting, parameters,
                         1 + static_cast<double>(further_clusters(setting)) / relays,
                         network.wan_latency, wan_rate(network, largest_cluster(setting.layout)));
}

extern const Algorithm kBcastStriped{Kind::Bcast,
                                     "striped",
                                     kWires,
                                     kSegment,
                                     cost_bcast_striped,
                                     bcast_striped,
                                     "after den Burger et al., SC 2005"};
extern const Algorithm kBcastChained{Kind::Bcast,
                                     "chained",
                                     kWires,
                                     kSegment,
                                     cost_bcast_chained,
                                     bcast_chained,
                                     "striped, passed on from cluster to cluster"};

}  // namespace isthmus::coll
