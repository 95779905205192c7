// Broadcasts by scatter and allgather.
//
// van-de-geijn: over all ranks alike (Barnett et al., "Building a High-Performance Collective
// Communication Library", SC 1994).
//
// farfirst: the whole message to the other clusters first, then that inside each cluster (Matsuda
// et al., "Efficient MPI Collective Operations for Clusters in Long-and-Fast Networks", CLUSTER
// 2006, section 3.1).
//
// van-de-geijn-wan: scatter in the root's cluster, then n senders at once copy the scattered parts
// to every other cluster, then allgather in each (the same, sections 2.2 to 2.5). The other members
// hand their parts to the senders; the receivers hand them on to their clusters' members.
#include <algorithm>
#include <deque>
#include <numeric>

#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/halving.hpp"
#include "papers/papers.hpp"
#include "papers/speakers.hpp"

namespace isthmus::coll {
namespace {

Task scatter_and_gather(Party& party, Bytes data, std::vector<int> ranks, int root) {
  co_await scatter_by_halving(party, ranks, root, data, kTagBcast);
  co_await gather_by_doubling(party, shares_after_scatter(ranks, root, data.size()), data,
                              kTagBcastSpread);
}

}  // namespace

Task bcast_van_de_geijn(Party& party, Bytes data, int root, Parameters) {
  std::vector<int> all(static_cast<std::size_t>(party.layout().size()));
  std::iota(all.begin(), all.end(), 0);
  if (!data.empty()) co_await scatter_and_gather(party, data, all, root);
}

Task bcast_farfirst(Party& party, Bytes data, int root, Parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  const int here = my_cluster(party);
  std::vector<Pending> far;
  if (party.rank() == root) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c != home) far.push_back(party.send(layout.leader(c), kTagBcastCopy, data));
    }
  } else if (here != home && is_leader(party)) {
    far.push_back(party.recv(root, kTagBcastCopy, data));
  }
  for (auto& p : far) co_await p;
  const int local_root = here == home ? root : layout.leader(here);
  co_await scatter_and_gather(party, data, list_of(layout.members(here)), local_root);
}

namespace {

/// One rank's part in the crossing.
class CounterCopy {
 public:
  CounterCopy(Party& party, Bytes data, int root, const Parameters& parameters)
      : party_(party),
        layout_(party.layout()),
        data_(data),
        home_(layout_.cluster_of(root)),
        here_(my_cluster(party)),
        shares_(here_ == home_ ? shares_after_scatter(layout_.members(here_), root, data.size())
                               : even_shares(layout_.members(here_), data.size(), 1)) {
    const int senders = matched_senders(layout_, parameters.senders);
    for (int c = 0; c < layout_.clusters(); ++c) {
      if (c == here_) {
        carried_.push_back(sender_shares(shares_, senders, data.size(), 1));
      } else {
        const auto held = c == home_ ? shares_after_scatter(layout_.members(c), root, data.size())
                                     : even_shares(layout_.members(c), data.size(), 1);
        carried_.push_back(sender_shares(held, senders, data.size(), 1));
      }
    }
    speakers_ = speakers_with(carried_[static_cast<std::size_t>(here_)], shares_);
    if (here_ == home_) keep_what_passed();
    segment_ = handed_on(layout_, senders)
                   ? carried_segment(party.network(), data.size(), senders, parameters)
                   : data.size();  // no handing, so that it cannot overlap
  }

  const std::vector<Share>& shares() const { return shares_; }

  Task run() {
    std::vector<Task> side_by_side;
    const Share mine = share_of(party_.rank());
    for (std::size_t s = 0; s < speakers_.size(); ++s) {
      const Speaker& speaker = speakers_[s];
      if (speaker.rank() == party_.rank()) {
        side_by_side.push_back(here_ == home_ ? send_across(s) : receive_across(s));
      } else if (mine.size() > 0) {
        side_by_side.push_back(hand(party_, data_, mine, speaker, segment_,
                                    here_ == home_ ? Handing::In : Handing::Out, kTagBcastCopy));
      }
    }
    Pending done = all_of(std::move(side_by_side));
    co_await done;
  }

 private:
  Share share_of(int rank) const { return *std::ranges::find(shares_, rank, &Share::rank); }

  /// The scatter has brought speakers more than their own shares. If there are as many speakers as
  /// ranks with data after some step of it, they have all that they carry (section 2.4's first
  /// alternative).
  void keep_what_passed() {
    for (Speaker& speaker : speakers_) {
      const auto place = std::ranges::find(shares_, speaker.rank(), &Share::rank);
      speaker.has = passed_in_scatter(shares_, static_cast<std::size_t>(place - shares_.begin()));
    }
  }

  /// At speaker s of the root's cluster.
  Task send_across(std::size_t s) {
    const Speaker speaker = speakers_[s];
    const Cut cut(speaker.carries, segment_);
    std::deque<std::vector<Pending>> handed;
    std::deque<Pending> crossing;
    for (std::size_t k = 0, begun = 0; k < cut.count(); ++k) {
      for (; begun < std::min(cut.count(), k + kHandedAtATime); ++begun) {
        handed.push_back(expect_handed(party_, data_, shares_, speaker, cut.begin(begun),
                                       cut.end(begun), kTagBcastCopy));
      }
      for (auto& p : handed.front()) co_await p;
      handed.pop_front();
      const Bytes segment = data_.subspan(cut.begin(k), cut.size(k));
      for (int c = 0; c < layout_.clusters(); ++c) {
        if (c == home_) continue;
        crossing.push_back(
            party_.send(carried_[static_cast<std::size_t>(c)][s].rank, kTagBcastCopy, segment));
      }
      while (crossing.size() > kPostedAtATime) {
        co_await crossing.front();
        crossing.pop_front();
      }
    }
    for (auto& p : crossing) co_await p;
  }

  /// At speaker s of another cluster.
  Task receive_across(std::size_t s) {
    const Speaker speaker = speakers_[s];
    const int sender = carried_[static_cast<std::size_t>(home_)][s].rank;
    const Cut cut(speaker.carries, segment_);
    std::deque<Pending> crossing, handed;
    for (std::size_t k = 0, begun = 0; k < cut.count(); ++k) {
      for (; begun < std::min(cut.count(), k + kPostedAtATime); ++begun) {
        crossing.push_back(
            party_.recv(sender, kTagBcastCopy, data_.subspan(cut.begin(begun), cut.size(begun))));
      }
      co_await crossing.front();
      crossing.pop_front();
      hand_out(party_, data_, shares_, speaker, cut.begin(k), cut.end(k), kTagBcastCopy, handed);
      while (handed.size() > kPostedAtATime) {
        co_await handed.front();
        handed.pop_front();
      }
    }
    for (auto& p : handed) co_await p;
  }

  Party& party_;
  const Layout& layout_;
  Bytes data_;
  int home_, here_;
  std::vector<Share> shares_;                // of this cluster's members
  std::vector<std::vector<Share>> carried_;  // by cluster
  std::vector<Speaker> speakers_;            // of this one
  std::size_t segment_ = 0;
};

}  // namespace

Task bcast_van_de_geijn_wan(Party& party, Bytes data, int root, Parameters parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  if (here == layout.cluster_of(root)) {
    std::vector<int> members = list_of(layout.members(here));
    co_await scatter_by_halving(party, members, root, data, kTagBcast);
  }
  CounterCopy copy(party, data, root, parameters);
  if (layout.clusters() > 1) co_await copy.run();
  // The parts that cross go first, because the other clusters still have to spread them.
  co_await gather_by_doubling(party, copy.shares(), data, kTagBcastSpread);
}

namespace {

double cost_bcast_farfirst(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + detours(setting, setting.bytes()) +
         2 * explicit_steps(setting.network, members, setting.bytes());
}

double cost_bcast_van_de_geijn(const Setting& setting, const Parameters&) {
  // Each step may cross: the scatter once, and every step of the allgather. The last step crosses
  // with half of the message, when all members send at a time.
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const double crossing =
      static_cast<double>(setting.bytes()) / 2 * largest_cluster(layout) / network.wan_bandwidth;
  return 2 * explicit_steps(network, layout.size(), setting.bytes()) + crossing +
         (1 + rounds(layout.size())) * network.wan_latency;
}

double cost_bcast_van_de_geijn_wan(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  const int senders = senders_of(setting, parameters);
  const std::size_t segment =
      carried_segment(setting.network, setting.bytes(), senders, parameters);
  return 2 * explicit_steps(setting.network, members, setting.bytes()) +
         far_copy(setting, setting.bytes(), senders) + handing_alone(setting, senders, segment) +
         planning(setting);
}

}  // namespace

const Algorithm kBcastFarfirst{Kind::Bcast,         "farfirst",     kByName, kNone,
                               cost_bcast_farfirst, bcast_farfirst, kMatsuda};
const Algorithm kBcastVanDeGeijn{
    Kind::Bcast,        "van-de-geijn",           kByName, kNone, cost_bcast_van_de_geijn,
    bcast_van_de_geijn, "Barnett et al., SC 1994"};
const Algorithm kBcastVanDeGeijnWan{
    Kind::Bcast, "van-de-geijn-wan",          kByName,
    kSenders,    cost_bcast_van_de_geijn_wan, bcast_van_de_geijn_wan,
    kMatsuda};

}  // namespace isthmus::coll
