// Matsuda et al., "Efficient MPI Collective Operations for Clusters in Long-and-Fast Networks",
// CLUSTER 2006.
//
// two-tier: inside each cluster to its leader, by reduce-scatter and gather. Then the leaders
// exchange whole vectors, and van de Geijn's broadcast spreads them inside each cluster (section
// 3.2).
//
// rabenseifner-wan: reduce-scatter in each cluster, then n senders of each cluster at once exchange
// and reduce the parts between clusters, then allgather in each cluster (section 2.3). The other
// members hand their parts to the senders, and get them back.
#include <algorithm>
#include <deque>

#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/halving.hpp"
#include "papers/papers.hpp"
#include "papers/speakers.hpp"

namespace isthmus::coll {
namespace {

/// Everything at one rank.
std::vector<Share> whole(int rank, std::size_t bytes) { return {{rank, 0, bytes}}; }

/// Reduces all clusters' partial results for the interval `mine`, in the clusters' order. `vector`
/// holds this cluster's. `counterparts[c]`: the rank of cluster c that holds the same interval.
Task exchange_and_reduce(Party& party, Bytes vector, Share mine, std::vector<int> counterparts,
                         Reduction& reduction, int tag) {
  if (mine.size() == 0) co_return;
  const auto here = static_cast<std::size_t>(my_cluster(party));
  const std::size_t size = mine.size();
  const Bytes part = vector.subspan(mine.first, size);
  Buffer partials(counterparts.size() * size);
  copy(part, partials.part(here * size, size));
  std::vector<Pending> pending;
  for (std::size_t c = 0; c < counterparts.size(); ++c) {
    if (c == here) continue;
    pending.push_back(party.recv(counterparts[c], tag, partials.part(c * size, size)));
    pending.push_back(party.send(counterparts[c], tag, part));
  }
  for (auto& p : pending) co_await p;
  const std::size_t count = size / reduction.packed_size(1);
  copy(fold(reduction, partials, size, counterparts.size(), count), part);
}

}  // namespace

Task allreduce_two_tier(Party& party, ConstBytes in, Bytes out, std::size_t count,
                        Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const int leader = layout.leader(here);
  std::vector<int> members = list_of(layout.members(here));
  copy(in, out);
  co_await reduce_by_halving(party, members, out, count, reduction, kTagAllreduce);
  const auto reduced = shares_after_reduce(members, count, reduction.packed_size(1));
  co_await redistribute(party, out, reduced, whole(leader, out.size()), kTagAllreduceCopy);
  if (is_leader(party)) {
    std::vector<int> leaders;
    leaders.reserve(static_cast<std::size_t>(layout.clusters()));
    for (int c = 0; c < layout.clusters(); ++c) leaders.push_back(layout.leader(c));
    const Share everything{leader, 0, out.size()};
    co_await exchange_and_reduce(party, out, everything, leaders, reduction, kTagAllreduceCopy);
  }
  co_await scatter_by_halving(party, members, leader, out, kTagAllreduceSpread);
  co_await gather_by_doubling(party, shares_after_scatter(members, leader, out.size()), out,
                              kTagAllreduceSpread);
}

namespace {

/// One rank's part in the crossing.
class CounterReduce {
 public:
  CounterReduce(Party& party, Bytes vector, std::size_t count, Reduction& reduction,
                const Parameters& parameters)
      : party_(party),
        layout_(party.layout()),
        vector_(vector),
        reduction_(reduction),
        unit_(reduction.packed_size(1)),
        here_(static_cast<std::size_t>(my_cluster(party))),
        shares_(shares_after_reduce(layout_.members(my_cluster(party)), count, unit_)) {
    // Each cluster has as many senders as the smallest has parts after its reduce-scatter.
    int senders = parameters.senders;
    for (int c = 0; c < layout_.clusters(); ++c) {
      const int most = static_cast<int>(parts_after_reduce(layout_.members(c).size()));
      senders = senders <= 0 ? most : std::min(senders, most);
    }
    for (int c = 0; c < layout_.clusters(); ++c) {
      const auto reduced = shares_after_reduce(layout_.members(c), count, unit_);
      carried_.push_back(sender_shares(reduced, senders, vector.size(), unit_));
    }
    speakers_ = speakers_with(carried_[here_], shares_);
    segment_ = carried_segment(party.network(), vector.size(), senders, parameters) / unit_;
    segment_ = std::max<std::size_t>(segment_, 1) * unit_;
  }

  const std::vector<Share>& shares() const { return shares_; }

  Task run() {
    std::vector<Task> side_by_side;
    const auto mine = std::ranges::find(shares_, party_.rank(), &Share::rank);
    for (std::size_t s = 0; s < speakers_.size(); ++s) {
      const Speaker& speaker = speakers_[s];
      if (speaker.rank() == party_.rank()) {
        side_by_side.push_back(send_across(s));
        side_by_side.push_back(receive_across(s));
      } else if (mine != shares_.end() && mine->size() > 0) {
        side_by_side.push_back(
            hand(party_, vector_, *mine, speaker, segment_, Handing::InAndOut, kTagAllreduceCopy));
      }
    }
    Pending done = all_of(std::move(side_by_side));
    co_await done;
  }

 private:
  /// The parts of a segment that the other clusters' speakers s send, by cluster, and the receives.
  struct Arrivals {
    Buffer partials;
    std::vector<Pending> pending;
  };

  Bytes partial(Arrivals& arrivals, std::size_t cluster, std::size_t size) {
    return arrivals.partials.part((cluster < here_ ? cluster : cluster - 1) * size, size);
  }

  /// At speaker s: this cluster's partial results, to those of the others.
  Task send_across(std::size_t s) {
    const Speaker speaker = speakers_[s];
    const Cut cut(speaker.carries, segment_);
    std::deque<std::vector<Pending>> handed;
    for (std::size_t k = 0, begun = 0; k < cut.count(); ++k) {
      for (; begun < std::min(cut.count(), k + kHandedAtATime); ++begun) {
        handed.push_back(expect_handed(party_, vector_, shares_, speaker, cut.begin(begun),
                                       cut.end(begun), kTagAllreduceCopy));
      }
      for (auto& p : handed.front()) co_await p;
      handed.pop_front();
      Pending room = until([this] { return crossing_.size() < kPostedAtATime; });
      co_await room;
      std::vector<Pending>& sends = crossing_.emplace_back();
      for (std::size_t c = 0; c < carried_.size(); ++c) {
        if (c == here_) continue;
        sends.push_back(party_.send(carried_[c][s].rank, kTagAllreduceCopy,
                                    vector_.subspan(cut.begin(k), cut.size(k))));
      }
    }
  }

  /// And theirs; the results are handed out.
  Task receive_across(std::size_t s) {
    const Speaker speaker = speakers_[s];
    const Cut cut(speaker.carries, segment_);
    std::deque<Arrivals> coming;
    std::deque<Pending> handed;
    for (std::size_t k = 0, begun = 0; k < cut.count(); ++k) {
      for (; begun < std::min(cut.count(), k + kPostedAtATime); ++begun) {
        coming.push_back(expect(s, cut.size(begun)));
      }
      for (auto& p : coming.front().pending) co_await p;
      // The results replace what has been sent.
      Pending sending = until([this] { return !crossing_.empty(); });
      co_await sending;
      for (auto& p : crossing_.front()) co_await p;
      crossing_.pop_front();
      combine(coming.front(), vector_.subspan(cut.begin(k), cut.size(k)));
      coming.pop_front();
      hand_out(party_, vector_, shares_, speaker, cut.begin(k), cut.end(k), kTagAllreduceCopy,
               handed);
      while (handed.size() > kPostedAtATime) {
        co_await handed.front();
        handed.pop_front();
      }
    }
    for (auto& p : handed) co_await p;
  }

  Arrivals expect(std::size_t s, std::size_t size) {
    Arrivals arrivals;
    arrivals.partials = Buffer((carried_.size() - 1) * size);
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (c == here_) continue;
      arrivals.pending.push_back(
          party_.recv(carried_[c][s].rank, kTagAllreduceCopy, partial(arrivals, c, size)));
    }
    return arrivals;
  }

  /// In the clusters' order.
  void combine(Arrivals& arrivals, Bytes own) {
    const auto of_cluster = [&](std::size_t c) {
      return c == here_ ? own : partial(arrivals, c, own.size());
    };
    const std::size_t last = carried_.size() - 1;
    for (std::size_t c = last; c-- > 0;) {
      reduction_.combine(of_cluster(c), of_cluster(last), own.size() / unit_);
    }
    if (last != here_) copy(of_cluster(last), own);
  }

  Party& party_;
  const Layout& layout_;
  Bytes vector_;
  Reduction& reduction_;
  std::size_t unit_, here_;
  std::vector<Share> shares_;                // of this cluster's members
  std::vector<std::vector<Share>> carried_;  // by cluster
  std::vector<Speaker> speakers_;            // of this one
  std::size_t segment_ = 0;
  std::deque<std::vector<Pending>> crossing_;  // by segment, those that have not been replaced
};

}  // namespace

Task allreduce_rabenseifner_wan(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                Reduction& reduction, Parameters parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  std::vector<int> members = list_of(layout.members(my_cluster(party)));
  copy(in, out);
  co_await reduce_by_halving(party, members, out, count, reduction, kTagAllreduce);
  CounterReduce counter_reduce(party, out, count, reduction, parameters);
  if (layout.clusters() > 1) co_await counter_reduce.run();
  co_await gather_shares(party, members, counter_reduce.shares(), out, kTagAllreduceSpread);
}

namespace {

double cost_allreduce_two_tier(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + detours(setting, setting.bytes()) +
         4 * explicit_steps(setting.network, members, setting.bytes());
}

double cost_allreduce_rabenseifner_wan(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  const int senders = senders_of(setting, parameters);
  const std::size_t segment =
      carried_segment(setting.network, setting.bytes(), senders, parameters);
  // A speaker's link carries, each way, the parts handed to it as well as those that cross.
  const double carried = handed_on(setting.layout, senders) ? 1.0 / senders - 1.0 / members : 0;
  const double handed = link_time(setting.network, setting.bytes()) * carried;
  return 2 * explicit_steps(setting.network, members, setting.bytes()) +
         far_copy(setting, setting.bytes(), senders) + handed +
         handing_alone(setting, senders, segment) + planning(setting);
}

}  // namespace

const Algorithm kAllreduceTwoTier{
    Kind::Allreduce,    "two-tier", kRankOrderCutByName, kNone, cost_allreduce_two_tier,
    allreduce_two_tier, kMatsuda};
const Algorithm kAllreduceRabenseifnerWan{Kind::Allreduce,
                                          "rabenseifner-wan",
                                          kRankOrderCutByName,
                                          kSenders,
                                          cost_allreduce_rabenseifner_wan,
                                          allreduce_rabenseifner_wan,
                                          kMatsuda};

}  // namespace isthmus::coll
