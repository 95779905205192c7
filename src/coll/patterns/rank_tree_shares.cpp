#include "coll/patterns/rank_tree_shares.hpp"

#include <algorithm>
#include <deque>

#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/rank_tree.hpp"

namespace isthmus::coll {

std::vector<Share> shares_of_cluster(const Layout& layout, int cluster, std::size_t bytes,
                                     std::size_t unit) {
  return even_shares(layout.members(cluster), bytes, unit);
}

std::vector<Share> shares_of_clusters(const Layout& layout, std::size_t bytes, std::size_t unit) {
  std::vector<Share> all;
  for (int c = 0; c < layout.clusters(); ++c) {
    const std::vector<Share> some = shares_of_cluster(layout, c, bytes, unit);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Share share_of(int rank, const std::vector<Share>& shares) {
  const auto found = std::ranges::find(shares, rank, &Share::rank);
  return found == shares.end() ? Share{rank, 0, 0} : *found;
}

std::vector<std::size_t> sizes_of(const std::vector<Share>& shares) {
  std::vector<std::size_t> sizes;
  sizes.reserve(shares.size());
  for (const Share& share : shares) sizes.push_back(share.size());
  return sizes;
}

namespace {

/// The bytes that both shares have.
Share common(const Share& a, const Share& b) {
  const std::size_t first = std::max(a.first, b.first);
  return {a.rank, first, std::max(first, std::min(a.last, b.last))};
}

/// This rank's share of its cluster's subtrees: a row for each.
Task values_here(Party& party, ConstBytes in, std::size_t unit, Reduction& reduction,
                 std::vector<Share> sources, std::vector<RankRange> subtrees, Buffer& rows) {
  const std::size_t size = share_of(party.rank(), sources).size();
  const auto members = party.layout().members(my_cluster(party));
  const Sizes out = sizes_of(sources), each(members.size(), size);
  Buffer arrived(total(each));
  co_await party.local_alltoall(in, out, arrived.bytes(), each);
  rows = Buffer(subtrees.size() * size);
  if (size == 0) co_return;
  std::vector<RankValue> ranks;  // of a subtree
  std::size_t next = 0;
  for (std::size_t row = 0; row < subtrees.size(); ++row) {
    ranks.clear();
    for (int rank = subtrees[row].first; rank < subtrees[row].last; ++rank) {
      ranks.push_back({{rank, rank + 1}, arrived.part(next++ * size, size)});
    }
    copy(combine_in_tree(ranks, subtrees[row], reduction, size / unit),
         rows.part(row * size, size));
  }
}

/// Rows of one share on their way to, or from, a rank that needs a part of it.
struct Parcel {
  Share part;
  std::vector<RankRange> subtrees;
  Buffer rows;
};

}  // namespace

Task share_in_tree(Party& party, ConstBytes in, Bytes own, std::size_t count, Reduction& reduction,
                   std::vector<Share> targets, int tag) {
  const Layout& layout = party.layout();
  const int me = party.rank(), here = my_cluster(party);
  const std::size_t unit = in.size() / count;
  const Share target = share_of(me, targets);
  std::vector<Pending> pending;
  std::deque<Parcel> incoming, outgoing;
  std::size_t all_subtrees = 0;
  for (int c = 0; c < layout.clusters(); ++c) {
    const std::vector<RankRange> subtrees = cluster_subtrees(layout, c);
    all_subtrees += subtrees.size();
    for (const Share& source : shares_of_cluster(layout, c, in.size(), unit)) {
      const Share part = common(source, target);
      if (part.size() == 0) continue;
      Parcel& parcel = incoming.emplace_back();
      parcel.part = part;
      parcel.subtrees = subtrees;
      parcel.rows = Buffer(subtrees.size() * part.size());
      if (source.rank != me) pending.push_back(party.recv(source.rank, tag, parcel.rows.bytes()));
    }
  }
  const std::vector<Share> sources = shares_of_cluster(layout, here, in.size(), unit);
  const std::vector<RankRange> subtrees = cluster_subtrees(layout, here);
  const Share source = share_of(me, sources);
  Buffer rows;
  co_await values_here(party, in, unit, reduction, sources, subtrees, rows);
  const auto pack = [&](const Share& part, Bytes to) {
    for (std::size_t row = 0; row < subtrees.size(); ++row) {
      const std::size_t begin = row * source.size() + part.first - source.first;
      copy(rows.part(begin, part.size()), to.subspan(row * part.size(), part.size()));
    }
  };
  for (const Share& to : targets) {
    const Share part = common(source, to);
    if (to.rank == me || part.size() == 0) continue;
    Parcel& parcel = outgoing.emplace_back();
    parcel.rows = Buffer(subtrees.size() * part.size());
    pack(part, parcel.rows.bytes());
    pending.push_back(party.send(to.rank, tag, parcel.rows.bytes()));
  }
  for (Parcel& parcel : incoming) {
    if (parcel.part.rank == me) pack(parcel.part, parcel.rows.bytes());
  }
  for (auto& p : pending) co_await p;
  if (target.size() == 0) co_return;
  // Shares of clusters end at different places: the rows of a subtree come in pieces.
  Buffer memory(all_subtrees * target.size());
  std::vector<RankValue> values;
  for (const Parcel& parcel : incoming) {
    for (const RankRange node : parcel.subtrees) {
      if (parcel.part.first != target.first) continue;
      values.push_back({node, memory.part(values.size() * target.size(), target.size())});
    }
  }
  std::ranges::sort(values, {}, [](const RankValue& value) { return value.ranks.first; });
  for (Parcel& parcel : incoming) {
    const std::size_t size = parcel.part.size();
    for (std::size_t row = 0; row < parcel.subtrees.size(); ++row) {
      const auto value = std::ranges::find(values, parcel.subtrees[row], &RankValue::ranks);
      copy(parcel.rows.part(row * size, size),
           value->vector.subspan(parcel.part.first - target.first, size));
    }
  }
  copy(combine_in_tree(values, {0, layout.size()}, reduction, target.size() / unit), own);
}

namespace {

/// Most subtrees of a cluster.
std::size_t most_subtrees(const Layout& layout) {
  std::vector<std::size_t> of(static_cast<std::size_t>(layout.clusters()));
  for (const RankRange node : cluster_subtrees(layout)) {
    ++of[static_cast<std::size_t>(layout.cluster_of(node.first))];
  }
  return *std::ranges::max_element(of);
}

}  // namespace

double cost_collect_in_tree(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const double hop = network.link_latency + network.message_cost;
  const std::size_t sent = most_subtrees(setting.layout) * setting.bytes();
  return rounds(members) * (hop + link_time(network, setting.bytes())) + hop +
         far_message(setting, sent) + folding(setting, rounds(setting.layout.size()));
}

double cost_share_in_tree(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const auto bytes = static_cast<double>(setting.bytes());
  const double sent = bytes * static_cast<double>(most_subtrees(setting.layout));
  return exchange_latency(network, members) + link_time(network, setting.bytes()) +
         2 * network.message_cost +
         all_at_once(setting, sent * (setting.layout.clusters() - 1) / members, sent) +
         folding(setting, setting.layout.clusters());
}

}  // namespace isthmus::coll
