// Reductions to all by reduce-scatter and allgather.
//
// rabenseifner: over all ranks alike (Rabenseifner, "Optimization of Collective Reduction
// Operations", ICCS 2004).
// two-tier: inside each cluster to its leader, by reduce-scatter and gather; the leaders exchange
// whole vectors; van de Geijn's broadcast inside each cluster (Matsuda et al., CLUSTER 2006,
// section 3.2).
// rabenseifner-wan: reduce-scatter in each cluster, an exchange and reduction of the parts between
// the clusters by n senders of each at once, allgather in each cluster (the same, section 2.3).
// Others hand their parts to the senders, and get them back.
#include <numeric>

#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/counterparts.hpp"
#include "coll/patterns/halving.hpp"

namespace isthmus::coll {
namespace {

/// Everything at one rank.
std::vector<Share> whole(int rank, std::size_t bytes) { return {{rank, 0, bytes}}; }

/// Every rank of the list has its part of what reduce_by_halving left; gives all to all of them.
Task gather_shares(Party& party, std::vector<int> ranks, std::vector<Share> shares, Bytes vector,
                   int tag) {
  const auto parts = even_shares(ranks, vector.size(), 1);
  // Where the list is no power of two some ranks hold nothing yet.
  if (shares.size() < ranks.size()) {
    co_await redistribute(party, vector, shares, parts, tag);
    shares = parts;
  }
  co_await gather_by_doubling(party, shares, vector, tag);
}

/// Partial results of all clusters for the interval of `mine`, which `vector` holds for this
/// cluster, reduced in the clusters' order. `counterparts[c]`: who holds the same of cluster c.
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

std::vector<int> list_of(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

}  // namespace

Task allreduce_rabenseifner(Party& party, ConstBytes in, Bytes out, std::size_t count,
                            Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  std::vector<int> all(static_cast<std::size_t>(party.layout().size()));
  std::iota(all.begin(), all.end(), 0);
  copy(in, out);
  co_await reduce_by_halving(party, all, out, count, reduction, kTagAllreduce);
  const auto shares = shares_after_reduce(all, count, reduction.packed_size(1));
  co_await gather_shares(party, all, shares, out, kTagAllreduceSpread);
}

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

Task allreduce_rabenseifner_wan(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                Reduction& reduction, Parameters parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  const std::size_t unit = reduction.packed_size(1);
  const int here = my_cluster(party);
  // As many of each cluster as the smallest has parts after its reduce-scatter.
  int senders = parameters.senders;
  std::vector<std::vector<Share>> at_senders;
  for (int c = 0; c < layout.clusters(); ++c) {
    const int most = static_cast<int>(parts_after_reduce(layout.members(c).size()));
    senders = senders <= 0 ? most : std::min(senders, most);
  }
  for (int c = 0; c < layout.clusters(); ++c) {
    const auto reduced = shares_after_reduce(layout.members(c), count, unit);
    at_senders.push_back(sender_shares(reduced, senders, out.size(), unit));
  }
  std::vector<int> members = list_of(layout.members(here));
  const auto reduced = shares_after_reduce(members, count, unit);
  const auto& exchanged = at_senders[static_cast<std::size_t>(here)];
  copy(in, out);
  co_await reduce_by_halving(party, members, out, count, reduction, kTagAllreduce);
  co_await redistribute(party, out, reduced, exchanged, kTagAllreduceCopy);
  for (std::size_t s = 0; s < exchanged.size(); ++s) {
    if (exchanged[s].rank != party.rank()) continue;
    std::vector<int> counterparts;
    counterparts.reserve(at_senders.size());
    for (const auto& cluster : at_senders) counterparts.push_back(cluster[s].rank);
    co_await exchange_and_reduce(party, out, exchanged[s], counterparts, reduction,
                                 kTagAllreduceCopy);
  }
  co_await redistribute(party, out, exchanged, reduced, kTagAllreduceCopy);
  co_await gather_shares(party, members, reduced, out, kTagAllreduceSpread);
}

namespace {

double cost_allreduce_two_tier(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + detours(setting, setting.bytes()) +
         4 * explicit_steps(setting.network, members, setting.bytes());
}

double cost_allreduce_rabenseifner(const Setting& setting, const Parameters&) {
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const int members = largest_cluster(layout);
  const bool aligned = layout.blocks() && members == smallest_cluster(layout) &&
                       rounds(members) < rounds(members + 1);
  // Aligned, what crosses are the last halves: together the vector. Else whole vectors of many.
  const double crossing = static_cast<double>(setting.bytes()) / network.wan_bandwidth *
                          (aligned ? layout.clusters() - 1 : members);
  const int steps = aligned ? rounds(layout.clusters()) : rounds(layout.size());
  return 2 * explicit_steps(network, layout.size(), setting.bytes()) + crossing +
         2 * steps * network.wan_latency +
         folding(setting, static_cast<double>(layout.size() - 1) / layout.size());
}

double cost_allreduce_rabenseifner_wan(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return 2 * explicit_steps(setting.network, members, setting.bytes()) +
         far_copy(setting, setting.bytes(), senders_of(setting, parameters)) + planning(setting);
}

}  // namespace

const Algorithm kAllreduceTwoTier{
    Kind::Allreduce,    "two-tier", kRankOrderCutByName, kNone, cost_allreduce_two_tier,
    allreduce_two_tier, kMatsuda};
const Algorithm kAllreduceRabenseifner{Kind::Allreduce,
                                       "rabenseifner",
                                       kCutOneHost,
                                       kNone,
                                       cost_allreduce_rabenseifner,
                                       allreduce_rabenseifner,
                                       "Rabenseifner, ICCS 2004"};
const Algorithm kAllreduceRabenseifnerWan{Kind::Allreduce,
                                          "rabenseifner-wan",
                                          kRankOrderCutByName,
                                          kSenders,
                                          cost_allreduce_rabenseifner_wan,
                                          allreduce_rabenseifner_wan,
                                          kMatsuda};

}  // namespace isthmus::coll
