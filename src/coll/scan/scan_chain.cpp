// A pipeline through all ranks in rank order. Each receives a segment of the prefix that ends
// before it, applies its own elements and passes the segment on while the next one arrives. Every
// link carries the vector once each way, so a long vector takes little more than one transfer.
// Every border between clusters on the way costs a delay. Keeps rank order. The linear pipeline
// that Sanders and Traeff compare with (Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI
// 2006).
#include <algorithm>
#include <deque>

#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/pipeline.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {
namespace {

/// Segments that a rank has under way, each way.
constexpr std::size_t kWindow = 32;

/// The vector in segments of whole elements.
struct Segments {
  Segments(std::size_t count_, std::size_t bytes, std::size_t whole) : count(count_) {
    const double elements =
        static_cast<double>(count) * static_cast<double>(bytes) / static_cast<double>(whole);
    each = std::max<std::size_t>(1, static_cast<std::size_t>(elements));
    number = (count + each - 1) / each;
  }
  std::size_t elements(std::size_t s) const { return std::min(each, count - s * each); }
  std::size_t count, each, number;
};

struct Chain {
  ConstBytes in;
  Bytes out;
  std::size_t count;
  Reduction& reduction;
  bool exclusive;
  int tag;
};

Task run(Party& party, Chain chain, Parameters parameters) {
  const int rank = party.rank(), ranks = party.layout().size();
  Reduction& reduction = chain.reduction;
  if (chain.in.empty()) co_return;
  const std::size_t wanted = parameters.segment > 0
                                 ? parameters.segment
                                 : pipeline_segment(chain.in.size(), ranks, party.network());
  const Segments segments(chain.count, wanted, chain.in.size());
  const std::size_t whole = reduction.packed_size(segments.each);
  const auto size = [&](std::size_t s) { return reduction.packed_size(segments.elements(s)); };
  const auto in = [&](std::size_t s) { return chain.in.subspan(s * whole, size(s)); };
  const auto out = [&](std::size_t s) { return chain.out.subspan(s * whole, size(s)); };
  Buffer ring(std::min(segments.number, kWindow) * whole);
  const auto slot = [&](std::size_t s) { return ring.part(s % kWindow * whole, size(s)); };
  // The prefix up to my left neighbour, and the one with my elements.
  const auto before = [&](std::size_t s) { return chain.exclusive ? out(s) : slot(s); };
  const auto through = [&](std::size_t s) { return chain.exclusive ? slot(s) : out(s); };

  std::deque<Pending> arrivals, sends;
  const auto receive = [&](std::size_t s) {
    if (rank > 0 && s < segments.number) {
      arrivals.push_back(party.recv(rank - 1, chain.tag, before(s)));
    }
  };
  for (std::size_t s = 0; s < kWindow; ++s) receive(s);
  for (std::size_t s = 0; s < segments.number; ++s) {
    if (sends.size() == kWindow) {
      co_await sends.front();  // the ring's slot is free again
      sends.pop_front();
    }
    if (rank > 0) {
      co_await arrivals.front();
      arrivals.pop_front();
    }
    if (rank + 1 < ranks || !chain.exclusive) {
      copy(in(s), through(s));
      if (rank > 0) reduction.combine(before(s), through(s), segments.elements(s));
    }
    receive(s + kWindow);
    if (rank + 1 < ranks) sends.push_back(party.send(rank + 1, chain.tag, through(s)));
  }
  for (auto& p : sends) co_await p;
}

}  // namespace

Task scan_chain(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                Parameters parameters) {
  return run(party, Chain{in, out, count, reduction, false, kTagScan}, parameters);
}

Task exscan_chain(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                  Parameters parameters) {
  return run(party, Chain{in, out, count, reduction, true, kTagExscan}, parameters);
}

namespace {

double cost_scan_chain(const Setting& setting, const Parameters& parameters) {
  const Network& network = setting.network;
  const Layout& layout = setting.layout;
  const std::size_t wanted = parameters.segment > 0
                                 ? parameters.segment
                                 : pipeline_segment(setting.bytes(), layout.size(), network);
  const std::size_t segment = std::min(wanted, std::max<std::size_t>(setting.bytes(), 1));
  const double step = network.message_cost + link_time(network, segment);
  const double hop = step + network.link_latency;
  const std::size_t segments = (setting.bytes() + segment - 1) / segment;
  const auto steps = static_cast<double>(segments);
  return borders(layout) * network.wan_latency + (layout.size() - 1) * hop +
         steps * std::max(2 * network.message_cost + link_time(network, segment),
                          static_cast<double>(segment) / wan_rate(network, 1));
}

}  // namespace

extern const Algorithm kScanChain{Kind::Scan,      "chain",    kCut,   kSegment,
                                  cost_scan_chain, scan_chain, kPrefix};
extern const Algorithm kExscanChain{Kind::Exscan,    "chain",      kCut,   kSegment,
                                    cost_scan_chain, exscan_chain, kPrefix};

}  // namespace isthmus::coll
