// If clusters are blocks of ranks: a native scan in each. Then the last rank of a cluster, which
// has its total, sends it to the leaders of all later clusters. Each of those leaders broadcasts
// the prefix before its cluster. If clusters interleave: every leader gets all contributions.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {
namespace {

/// The prefix before my cluster, on all its ranks; empty in the first cluster. `inclusive` is my
/// local scan; it is not read after this ends.
Task prefix_of_clusters(Party& party, ConstBytes inclusive, std::size_t count, Reduction& reduction,
                        Buffer& before, int tag) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  std::vector<Pending> sends;
  if (party.rank() == layout.members(here).back()) {
    for (int c = here + 1; c < layout.clusters(); ++c) {
      sends.push_back(party.send(layout.leader(c), tag, inclusive));
    }
  }
  if (here > 0) {
    const std::size_t size = inclusive.size();
    const auto earlier = static_cast<std::size_t>(here);
    before = Buffer(size);
    if (is_leader(party)) {
      Buffer totals(earlier * size);
      std::vector<Pending> pending;
      for (int c = 0; c < here; ++c) {
        const Bytes place = totals.part(static_cast<std::size_t>(c) * size, size);
        pending.push_back(party.recv(layout.members(c).back(), tag, place));
      }
      for (auto& p : pending) co_await p;
      copy(fold(reduction, totals, size, earlier, count), before.bytes());
    }
    co_await party.local_bcast(before.bytes(), 0);
  }
  for (auto& p : sends) co_await p;
}

/// Leaders compute the prefixes of all their members and scatter them. Exclusive: rank r's prefix
/// ends before r, and rank 0 gets its own contribution (to be ignored).
Task scan_in_rank_order(Party& party, ConstBytes in, Bytes out, std::size_t count,
                        Reduction& reduction, bool exclusive, int tag) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const std::size_t size = in.size();
  Buffer all;
  co_await collect_contributions(party, in, all, -1, tag);
  const auto members = layout.members(here);
  const Sizes each(members.size(), size);
  Buffer results(is_leader(party) ? total(each) : 0);
  if (is_leader(party)) {
    Bytes prefix = all.part(0, size);
    for (int r = 0; r < layout.size(); ++r) {
      const Bytes contribution = all.part(static_cast<std::size_t>(r) * size, size);
      const bool mine = layout.cluster_of(r) == here;
      const Bytes place =
          mine ? results.part(static_cast<std::size_t>(layout.index_of(r)) * size, size) : Bytes{};
      if (mine && exclusive) copy(prefix, place);
      if (r > 0) {
        reduction.combine(prefix, contribution, count);
        prefix = contribution;
      }
      if (mine && !exclusive) copy(prefix, place);
    }
  }
  co_await party.local_scatter(results.bytes(), each, out, 0);
}

}  // namespace

static Task scan_magpie(Party& party, ConstBytes in, Bytes out, std::size_t count,
                        Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  if (!party.layout().blocks()) {
    co_await scan_in_rank_order(party, in, out, count, reduction, false, kTagScan);
    co_return;
  }
  co_await party.local_scan(in, out, count, reduction);
  Buffer before;
  co_await prefix_of_clusters(party, out, count, reduction, before, kTagScan);
  if (before.size() > 0) reduction.combine(before.bytes(), out, count);
}

static Task exscan_magpie(Party& party, ConstBytes in, Bytes out, std::size_t count,
                          Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  if (!layout.blocks()) {
    Buffer result(in.size());
    co_await scan_in_rank_order(party, in, result.bytes(), count, reduction, true, kTagExscan);
    if (party.rank() != 0) copy(result.bytes(), out);
    co_return;
  }
  Buffer inclusive(in.size()), left(is_leader(party) ? 0 : in.size());
  co_await party.local_scan(in, inclusive.bytes(), count, reduction);
  // The local prefix that excludes me is my left neighbour's inclusive one.
  std::vector<Pending> shift;
  if (!is_leader(party)) {
    shift.push_back(party.recv(party.rank() - 1, kTagExscanShift, left.bytes()));
  }
  if (party.rank() != layout.members(my_cluster(party)).back()) {
    shift.push_back(party.send(party.rank() + 1, kTagExscanShift, inclusive.bytes()));
  }
  for (auto& p : shift) co_await p;
  Buffer before;
  co_await prefix_of_clusters(party, inclusive.bytes(), count, reduction, before, kTagExscan);
  if (is_leader(party)) {
    if (before.size() > 0) copy(before.bytes(), out);
    co_return;
  }
  if (before.size() > 0) reduction.combine(before.bytes(), left.bytes(), count);
  copy(left.bytes(), out);
}

namespace {

double cost_scan_magpie(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  if (!setting.layout.blocks()) {  // all contributions to all leaders
    const auto vectors = setting.bytes() * static_cast<std::size_t>(members);
    return 2 * native_gather(network, members, vectors) + far_message(setting, vectors);
  }
  const double step =
      network.link_latency + network.message_cost + link_time(network, setting.bytes());
  return (members - 1) * step + far_message(setting, setting.bytes()) +
         native_bcast(network, members, setting.bytes());
}

}  // namespace

extern const Algorithm kScanMagpie{Kind::Scan,       "magpie",    kNothing, kNone,
                                   cost_scan_magpie, scan_magpie, kMagPIe};
extern const Algorithm kExscanMagpie{Kind::Exscan,     "magpie",      kNothing, kNone,
                                     cost_scan_magpie, exscan_magpie, kMagPIe};

}  // namespace isthmus::coll
