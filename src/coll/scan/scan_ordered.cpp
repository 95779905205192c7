// Reproducible prefixes. The result of rank r is the tree of patterns/rank_tree.hpp over ranks 0 to
// r, as in an allreduce of those ranks alone. In each round, blocks of ranks exchange their values
// with their neighbours, and become twice as long. Rounds between clusters cost a delay each.

#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {
namespace {

/// The values that a rank has so far. `block`: the value of its block of ranks. `prefix`: that of
/// the block's ranks up to this one, or before it.
struct Known {
  Buffer block, prefix;
  bool empty = false;  // the prefix
};

Task prefix_by_rounds(Party& party, ConstBytes in, std::size_t count, Reduction& reduction, int tag,
                      Known& known) {
  const int me = party.rank(), ranks = party.layout().size();
  for (int step = 1; step < ranks; step *= 2) {
    const bool left = (me & step) == 0;
    const int other = left ? me + step : me - step;
    // The value of the new block matters only if ranks follow it; then both its halves are full.
    const int begin = me / (2 * step) * (2 * step);
    const bool matters = ranks - begin > 2 * step;
    if (other >= ranks) continue;
    Buffer theirs(in.size());
    Pending sent, come;
    if (left || matters) sent = party.send(other, tag, known.block.bytes());
    if (!left || matters) come = party.recv(other, tag, theirs.bytes());
    co_await come;
    co_await sent;
    if (!left) {
      if (known.empty) {
        copy(theirs.bytes(), known.prefix.bytes());
      } else {
        reduction.combine(theirs.bytes(), known.prefix.bytes(), count);
      }
      known.empty = false;
    }
    if (!matters) continue;
    if (left) {
      reduction.combine(known.block.bytes(), theirs.bytes(), count);
      known.block = std::move(theirs);
    } else {
      reduction.combine(theirs.bytes(), known.block.bytes(), count);
    }
  }
}

}  // namespace

static Task scan_ordered(Party& party, ConstBytes in, Bytes out, std::size_t count,
                         Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  Known known{Buffer(in.size()), Buffer(in.size())};
  copy(in, known.block.bytes());
  copy(in, known.prefix.bytes());
  co_await prefix_by_rounds(party, in, count, reduction, kTagScan, known);
  copy(known.prefix.bytes(), out);
}

static Task exscan_ordered(Party& party, ConstBytes in, Bytes out, std::size_t count,
                           Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  Known known{Buffer(in.size()), Buffer(in.size()), true};
  copy(in, known.block.bytes());
  co_await prefix_by_rounds(party, in, count, reduction, kTagExscan, known);
  if (!known.empty) copy(known.prefix.bytes(), out);
}

namespace {

double cost_scan_ordered(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int all = rounds(setting.layout.size());
  const int far =
      setting.layout.clusters() > 1 ? all - rounds(smallest_cluster(setting.layout)) + 1 : 0;
  const double vector = link_time(network, setting.bytes());
  return all * (network.link_latency + 2 * network.message_cost + vector) +
         far * (network.wan_latency + setting.bytes() / wan_rate(network, 1)) +
         folding(setting, 2 * all);
}

}  // namespace

extern const Algorithm kScanOrdered{Kind::Scan,        "ordered",    kOrdered, kNone,
                                    cost_scan_ordered, scan_ordered, ""};
extern const Algorithm kExscanOrdered{Kind::Exscan,      "ordered",      kOrdered, kNone,
                                      cost_scan_ordered, exscan_ordered, ""};

}  // namespace isthmus::coll
