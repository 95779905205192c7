// The mirror of the striped broadcast: segment k goes up its tree (stripes.hpp). The members of a
// cluster send their operands to its entry, or in the root's cluster to the relay, which reduces
// them in rank order. Entries send to the relay, which reduces in the clusters' order and sends to
// the root. The root's own operands take part there. If the order of operands does not matter, the
// root adds them itself: then every link carries about the message once each way.
#include <algorithm>
#include <deque>
#include <vector>

#include "coll/bcast/bcast.hpp"
#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/looks.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/segment_size.hpp"
#include "coll/engine/segments.hpp"
#include "coll/patterns/stripes.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {
namespace {

// A rank's results leave on its link behind the operands that it has sent before. So it may be at
// most two rounds, one to each collector, ahead of the segments that it has collected; one and a
// half while the pipeline fills. On 16 nodes of 100 Mbit/s a reduction of 256 KiB takes 47.6 ms
// without this limit, 43.0 with two rounds always and 41.2 with one and a half (3.2 MB: 320, 300
// and 305; November 2026).
constexpr std::size_t kFirstRounds = 4;
constexpr std::size_t kAhead = 4;    // segments that a rank collects at a time
constexpr std::size_t kUnsent = 64;  // operands under way from one rank
constexpr std::size_t kPosted = 32;  // results that the root awaits at a time

class StripedReduce {
 public:
  StripedReduce(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                int root, std::size_t segment)
      : party_(party),
        layout_(party.layout()),
        in_(in),
        out_(out),
        reduction_(reduction),
        unit_(reduction.packed_size(1)),
        cut_(count, std::max<std::size_t>(segment / unit_, 1)),
        // Along the tree results of clusters that do not follow each other are combined.
        stripes_(
            layout_, root,
            reduction.commutative()
                ? tree_of_stripes(layout_, party.network(), root, in.size())
                : ClusterTree::star(Ways(layout_, party.network()), layout_.cluster_of(root), 0)),
        root_(root),
        me_(party.rank()),
        here_(my_cluster(party)),
        home_(layout_.cluster_of(root)),
        root_adds_last_(reduction.commutative() && layout_.members(home_).size() > 1),
        below_(stripes_.tree().children(here_)) {
    std::ranges::sort(below_);
    own_place_ = static_cast<std::size_t>(std::ranges::lower_bound(below_, here_) - below_.begin());
  }

  Task run() {
    std::vector<Task> parts;
    parts.push_back(collect());  // before contribute(), which waits for it
    parts.push_back(contribute());
    if (me_ == root_ && stripes_.relay(0) != root_) parts.push_back(receive());
    Pending all = all_of(std::move(parts));
    co_await all;
  }

 private:
  ConstBytes operand(std::size_t k) const {
    return in_.subspan(cut_.offset(k) * unit_, cut_.size(k) * unit_);
  }
  Bytes result(std::size_t k) const {
    return out_.subspan(cut_.offset(k) * unit_, cut_.size(k) * unit_);
  }
  /// The rank that reduces the operands of this cluster.
  int collector(std::size_t k) const {
    return here_ == home_ ? stripes_.relay(k) : stripes_.entry(here_, k);
  }
  /// The number of collectors in this cluster: a round is one segment for each.
  std::size_t collectors() const {
    return here_ == home_ ? stripes_.relays() : layout_.members(here_).size();
  }
  /// Whether `rank`'s operands go to the collector of its cluster.
  bool takes_part(int rank) const { return rank != root_ || !root_adds_last_; }

  Task contribute() {
    if (!takes_part(me_)) co_return;
    std::deque<Pending> sends;
    const std::size_t round = collectors();
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      if (collector(k) == me_) continue;
      const std::size_t lead = k < kFirstRounds * round ? round * 3 / 2 : round * 2;
      if (me_ != root_ && k >= lead) {
        Pending turn = until([this, first = k - lead, round] {
          return first < collected_ * round + between_looks(party_, cut_.count());
        });
        co_await turn;
      }
      sends.push_back(party_.send(collector(k), kTagReduce, operand(k)));
      while (sends.size() > kUnsent) {
        co_await sends.front();
        sends.pop_front();
      }
    }
    for (auto& p : sends) co_await p;
  }

  /// A segment that this rank reduces: its operands, and the result.
  struct Collected {
    std::size_t k = 0;
    Buffer memory;
    std::vector<ConstBytes> inside, outside;  // by member that takes part; by cluster
    std::vector<Pending> arrivals, sent;
    Bytes result;
  };

  void begin(std::size_t k, Collected& c) {
    c.k = k;
    const std::size_t size = cut_.size(k) * unit_;
    const auto members = layout_.members(here_);
    c.memory = Buffer((members.size() + below_.size() + 1) * size);
    std::size_t used = 0;
    const auto place = [&] { return c.memory.part(size * used++, size); };
    c.result = place();
    for (const int rank : members) {
      if (!takes_part(rank)) continue;
      if (rank == me_) {
        c.inside.push_back(operand(k));
        continue;
      }
      const Bytes there = place();
      c.arrivals.push_back(party_.recv(rank, kTagReduce, there));
      c.inside.push_back(there);
    }
    for (std::size_t i = 0; i <= below_.size(); ++i) {
      if (i == own_place_) c.outside.push_back({});  // to be reduced first
      if (i == below_.size()) break;
      const Bytes there = place();
      c.arrivals.push_back(party_.recv(stripes_.entry(below_[i], k), kTagReduceCopy, there));
      c.outside.push_back(there);
    }
  }

  /// Reduces `operands`, which do not lie in `into`.
  void reduce(const std::vector<ConstBytes>& operands, Bytes into, std::size_t k) {
    copy(operands.back(), into);
    for (std::size_t i = operands.size() - 1; i-- > 0;) {
      reduction_.combine(operands[i], into, cut_.size(k));
    }
  }

  void finish(Collected& c) {
    const bool at_root = me_ == root_;
    const Bytes into = at_root ? result(c.k) : c.result;
    Buffer ours(c.outside.size() > 1 ? c.result.size() : 0);
    if (ours.size() == 0) {
      reduce(c.inside, into, c.k);
    } else {
      reduce(c.inside, ours.bytes(), c.k);
      c.outside[own_place_] = ours.bytes();
      reduce(c.outside, into, c.k);
    }
    if (here_ != home_) {
      c.sent.push_back(party_.send(stripes_.sender(here_, c.k), kTagReduceCopy, into));
      return;
    }
    if (!at_root) c.sent.push_back(party_.send(root_, kTagReduceResult, c.result));
  }

  Task collect() {
    std::deque<Collected> ahead, leaving;
    std::size_t next = 0;
    while (true) {
      while (next < cut_.count() && ahead.size() < kAhead) {
        if (collector(next) == me_) begin(next, ahead.emplace_back());
        ++next;
      }
      if (ahead.empty()) break;
      for (auto& p : ahead.front().arrivals) co_await p;
      finish(ahead.front());
      ++collected_;
      leaving.push_back(std::move(ahead.front()));
      ahead.pop_front();
      while (leaving.size() > kAhead) {
        for (auto& p : leaving.front().sent) co_await p;
        leaving.pop_front();
      }
    }
    for (auto& c : leaving) {
      for (auto& p : c.sent) co_await p;
    }
  }

  Task receive() {
    std::deque<Pending> posted;
    std::size_t next = 0;
    for (std::size_t k = 0; k < cut_.count(); ++k) {
      while (next < cut_.count() && posted.size() < kPosted) {
        posted.push_back(party_.recv(stripes_.relay(next), kTagReduceResult, result(next)));
        ++next;
      }
      co_await posted.front();
      posted.pop_front();
      if (root_adds_last_) reduction_.combine(operand(k), result(k), cut_.size(k));
    }
  }

  Party& party_;
  const Layout& layout_;
  ConstBytes in_;
  Bytes out_;
  Reduction& reduction_;
  std::size_t unit_;
  Segments cut_;  // in elements
  Stripes stripes_;
  int root_, me_, here_, home_;
  std::size_t collected_ = 0;  // segments
  bool root_adds_last_;
  std::vector<int> below_;     // clusters whose entries send here, ascending
  std::size_t own_place_ = 0;  // among them
};

}  // namespace

static Task reduce_striped(Party& party, ConstBytes in, Bytes out, std::size_t count,
                           Reduction& reduction, int root, Parameters parameters) {
  const std::size_t size = reduction.packed_size(count);
  if (size == 0) co_return;
  const std::size_t segment = striped_segment(party.layout(), party.network(), size, parameters);
  StripedReduce mine(party, in, out, count, reduction, root, segment);
  co_await mine.run();
}

namespace {

double cost_reduce_striped(const Setting& setting, const Parameters& parameters) {
  return cost_bcast_striped(setting, parameters);
}

}  // namespace

extern const Algorithm kReduceStriped{Kind::Reduce,
                                      "striped",
                                      kRankOrderCutWires,
                                      kSegment,
                                      cost_reduce_striped,
                                      reduce_striped,
                                      "the striped broadcast, mirrored"};

}  // namespace isthmus::coll
