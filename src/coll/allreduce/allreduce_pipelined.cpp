// Three stages: reduce-scatter in each cluster by direct messages, exchange of the parts between
// the clusters by all members, allgather in each cluster by direct messages. The vector goes
// through in segments, so that some parts cross between clusters while others are still being
// reduced. A cluster's size need not be a power of two, nor equal another's. After Rabenseifner
// (ICCS 2004) and Matsuda et al. (CLUSTER 2006), with direct instead of halving steps and the
// stages overlapped.
#include <algorithm>
#include <cmath>
#include <deque>

#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/looks.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/segment_size.hpp"
#include "coll/engine/segments.hpp"
#include "coll/patterns/share.hpp"

namespace isthmus::coll {
namespace {

// Segments whose reduce-scatter is under way at a time, and the most between looks, which bounds
// the memory for others' operands.
constexpr std::size_t kLead = 2, kMostLead = 32;
constexpr std::size_t kPosted = 64, kUnsent = 64;

class Pipelined {
 public:
  Pipelined(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
            std::size_t segment)
      : party_(party),
        layout_(party.layout()),
        in_(in),
        out_(out),
        reduction_(reduction),
        unit_(reduction.packed_size(1)),
        cut_(count, std::max<std::size_t>(segment / unit_, 1)),
        here_(my_cluster(party)),
        me_(static_cast<std::size_t>(my_index(party))),
        members_(layout_.members(here_)) {
    std::size_t held = 0;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      places_.push_back(held);
      held += mine(k).size();
    }
    partials_ = Buffer(held);
    others_ = Buffer(held * static_cast<std::size_t>(layout_.clusters() - 1));
  }

  Task run() {
    std::vector<Task> stages;
    stages.push_back(reduce_scatter());
    stages.push_back(receive_across());
    stages.push_back(spread());
    stages.push_back(collect());
    Pending all = all_of(std::move(stages));
    co_await all;
  }

 private:
  /// The parts of segment k, by local index in cluster c; bytes of the vector.
  std::vector<Share> parts(int c, std::size_t k) const {
    auto shares = even_shares(layout_.members(c), cut_.size(k) * unit_, unit_);
    for (Share& share : shares) {
      share.first += cut_.offset(k) * unit_;
      share.last += cut_.offset(k) * unit_;
    }
    return shares;
  }
  Share mine(std::size_t k) const { return parts(here_, k)[me_]; }
  Bytes partial(std::size_t k) { return partials_.part(places_[k], mine(k).size()); }
  /// The place of cluster c's partial result for my part of segment k.
  Bytes other(int c, std::size_t k) {
    const auto others = static_cast<std::size_t>(layout_.clusters() - 1);
    const auto i = static_cast<std::size_t>(c < here_ ? c : c - 1);
    const std::size_t size = mine(k).size();
    return others_.part(places_[k] * others + i * size, size);
  }
  std::size_t elements(const Share& share) const { return share.size() / unit_; }

  struct Arrivals {
    Buffer operands;  // the others' operands of my part, by local index, without mine
    std::vector<Pending> pending;
    std::deque<Pending> sends;
  };

  Bytes operand(Arrivals& arrivals, std::size_t k, std::size_t i) {
    const std::size_t size = mine(k).size();
    return arrivals.operands.part((i < me_ ? i : i - 1) * size, size);
  }

  void begin(std::size_t k, Arrivals& arrivals) {
    const auto shares = parts(here_, k);
    const std::size_t members = members_.size();
    arrivals.operands = Buffer(shares[me_].size() * (members - 1));
    for (std::size_t i = members; i-- > 0;) {
      if (i == me_ || shares[me_].size() == 0) continue;
      arrivals.pending.push_back(party_.recv(members_[i], kTagAllreduce, operand(arrivals, k, i)));
    }
    for (std::size_t d = 1; d < members; ++d) {
      const Share& to = shares[(me_ + d) % members];
      if (to.size() == 0) continue;
      arrivals.sends.push_back(
          party_.send(to.rank, kTagAllreduce, in_.subspan(to.first, to.size())));
    }
  }

  std::size_t lead() const {
    return std::clamp(between_looks(party_, cut_.count()), kLead, kMostLead);
  }

  /// Segment by segment: the cluster's partial result of my part, then off to the other clusters.
  Task reduce_scatter() {
    std::deque<Arrivals> ahead;
    std::size_t begun = 0;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      while (begun < cut_.count() && begun < k + lead()) begin(begun++, ahead.emplace_back());
      Arrivals& arrivals = ahead.front();
      const Share part = mine(k);
      std::size_t at = 0;
      for (std::size_t i = members_.size(); i-- > 0 && part.size() > 0;) {  // last rank first
        if (i != me_) co_await arrivals.pending[at++];
        ConstBytes operand_i = in_.subspan(part.first, part.size());
        if (i != me_) operand_i = operand(arrivals, k, i);
        if (i == members_.size() - 1) {
          copy(operand_i, partial(k));
        } else {
          reduction_.combine(operand_i, partial(k), elements(part));
        }
      }
      for (auto& p : arrivals.sends) co_await p;
      ahead.pop_front();
      send_across(k);
      ++reduced_;
      while (crossing_.size() > kUnsent) {
        co_await crossing_.front();
        crossing_.pop_front();
      }
    }
    for (auto& p : crossing_) co_await p;
  }

  /// Sends my partial result to the ranks that reduce the same elements in other clusters.
  void send_across(std::size_t k) {
    const Share part = mine(k);
    for (int c = 0; c < layout_.clusters(); ++c) {
      if (c == here_) continue;
      for (const Share& to : parts(c, k)) {
        const std::size_t first = std::max(part.first, to.first);
        const std::size_t last = std::min(part.last, to.last);
        if (first >= last) continue;
        crossing_.push_back(party_.send(to.rank, kTagAllreduceCopy,
                                        partial(k).subspan(first - part.first, last - first)));
      }
    }
  }

  /// The other clusters' partial results of my parts, segment by segment.
  Task receive_across() {
    std::deque<std::pair<std::size_t, Pending>> posted;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      const Share part = mine(k);
      for (int c = 0; c < layout_.clusters(); ++c) {
        if (c == here_) continue;
        for (const Share& from : parts(c, k)) {
          const std::size_t first = std::max(part.first, from.first);
          const std::size_t last = std::min(part.last, from.last);
          if (first >= last) continue;
          posted.emplace_back(k,
                              party_.recv(from.rank, kTagAllreduceCopy,
                                          other(c, k).subspan(first - part.first, last - first)));
        }
      }
      while (posted.size() > kPosted) {
        co_await posted.front().second;
        posted.pop_front();
        arrived_ = posted.front().first;
      }
    }
    while (!posted.empty()) {
      arrived_ = posted.front().first;
      co_await posted.front().second;
      posted.pop_front();
    }
    arrived_ = cut_.count();
  }

  /// Segment by segment: reduces the whole result of my part and sends it to the members. This
  /// begins when the reduce-scatter is over, since others wait for that.
  Task spread() {
    {
      Pending reduced = until([this] { return reduced_ == cut_.count(); });
      co_await reduced;
    }
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      Pending arrived = until([this, k] { return arrived_ > k; });
      co_await arrived;
      finish(k, mine(k));
      while (spreading_.size() > kUnsent) {
        co_await spreading_.front();
        spreading_.pop_front();
      }
    }
    for (auto& p : spreading_) co_await p;
  }

  void finish(std::size_t k, const Share& part) {
    if (part.size() == 0) return;
    const auto of_cluster = [&](int c) { return c == here_ ? partial(k) : other(c, k); };
    const Bytes result = out_.subspan(part.first, part.size());
    copy(of_cluster(layout_.clusters() - 1), result);
    for (int c = layout_.clusters() - 1; c-- > 0;) {
      reduction_.combine(of_cluster(c), result, elements(part));
    }
    for (std::size_t d = 1; d < members_.size(); ++d) {
      const int to = members_[(me_ + d) % members_.size()];
      spreading_.push_back(party_.send(to, kTagAllreduceSpread, result));
    }
  }

  /// The members' results.
  Task collect() {
    std::deque<Pending> pending;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      const auto shares = parts(here_, k);
      for (std::size_t d = 1; d < members_.size(); ++d) {
        const Share& from = shares[(me_ + d) % members_.size()];
        if (from.size() == 0) continue;
        pending.push_back(
            party_.recv(from.rank, kTagAllreduceSpread, out_.subspan(from.first, from.size())));
      }
      while (pending.size() > lead() * members_.size()) {
        co_await pending.front();
        pending.pop_front();
      }
    }
    for (auto& p : pending) co_await p;
  }

  Party& party_;
  const Layout& layout_;
  ConstBytes in_;
  Bytes out_;
  Reduction& reduction_;
  std::size_t unit_;
  Segments cut_;  // in elements
  int here_;
  std::size_t me_;
  std::span<const int> members_;
  std::vector<std::size_t> places_;
  Buffer partials_, others_;
  std::size_t reduced_ = 0;  // segments whose partial results of this cluster are complete
  std::size_t arrived_ = 0;  // segments whose results of the other clusters have come
  std::deque<Pending> crossing_, spreading_;
};

}  // namespace

static Task allreduce_pipelined(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                Reduction& reduction, Parameters parameters) {
  const std::size_t size = reduction.packed_size(count);
  if (size == 0) co_return;
  const std::size_t segment = pipelined_segment(party.layout(), party.network(), size, parameters);
  Pipelined mine(party, in, out, count, reduction, segment);
  co_await mine.run();
}

namespace {

/// Seconds for one member's messages of a segment. Each of few messages finds its process at rest;
/// of many messages, most find others before them (2026-11: in simulations with 64 members, all but
/// a few). On one host ranks take turns for these messages as for a stream's: 16 KiB of 2 + 2 ranks
/// on two cores took 85 us this way, 45 by `magpie` (2026-11).
double of_one_segment(const Network& network, int members) {
  constexpr int kAtRest = 8;  // as many as the clusters had when `message_cost` was measured
  const int alone = std::min(members, kAtRest);
  const double at_rest = std::max(network.message_cost, network.stream_cost);
  return 4 * (alone * at_rest + (members - alone) * network.stream_cost);
}

double cost_allreduce_pipelined(const Setting& setting, const Parameters& parameters) {
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const int members = largest_cluster(layout);
  const std::size_t bytes = setting.bytes();
  const std::size_t segment = pipelined_segment(layout, network, bytes, parameters);
  const double segments = std::ceil(static_cast<double>(bytes) / static_cast<double>(segment));
  const int fewest = smallest_cluster(layout);
  const double inside = link_time(network, bytes) * (members - 1) / members;
  const double links = link_time(network, bytes) * (layout.clusters() - 1) / fewest;
  const double wires = static_cast<double>(bytes) / wan_rate(network, fewest);
  const double messages = 4 * members;  // of a segment
  const double number = std::max(segments, 1.0);
  // A member's link carries its operands and the crossing parts. The last segment crosses alone.
  const double reduced =
      std::max({inside + links, wires + inside / number, inside + std::max(links, wires) / number});
  // The first segments' gathers run while the last ones cross.
  const double gather = std::max(inside, network.wan_latency + inside / number);
  const double handling = (number - 1) * messages * network.stream_cost;  // but the first's
  const double through = std::max(reduced + gather, handling + network.wan_latency);
  return detours(setting, bytes) + 2 * network.link_latency + of_one_segment(network, members) +
         through;
}

}  // namespace

extern const Algorithm kAllreducePipelined{Kind::Allreduce,
                                           "pipelined",
                                           kRankOrderCutWires,
                                           kSegment,
                                           cost_allreduce_pipelined,
                                           allreduce_pipelined,
                                           "after Rabenseifner and Matsuda et al."};

}  // namespace isthmus::coll
