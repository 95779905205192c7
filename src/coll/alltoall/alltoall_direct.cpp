// Every block is a message of its own, straight to its rank. Blocks for other clusters go first;
// those within the cluster fill the rest of the links. Each member begins with another receiver, so
// that they do not all send to one rank at once.
#include <algorithm>
#include <deque>

#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/pairwise.hpp"

namespace isthmus::coll {
namespace {

/// Messages that a rank has on their way to other clusters at a time.
constexpr std::size_t kUnderWay = 64;

/// The ranks of other clusters, from the next cluster's counterpart on: each step of all members
/// together hits each receiver alike.
std::vector<int> receivers(const Party& party) {
  const Layout& layout = party.layout();
  std::vector<int> ranks;
  for (int k = 1; k < layout.clusters(); ++k) {
    const auto there = layout.members((my_cluster(party) + k) % layout.clusters());
    for (std::size_t i = 0; i < there.size(); ++i) {
      ranks.push_back(there[(static_cast<std::size_t>(my_index(party)) + i) % there.size()]);
    }
  }
  return ranks;
}

}  // namespace

Task alltoall_direct(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                     Parameters) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes from = offsets_of(out_sizes), to = offsets_of(in_sizes);

  std::vector<Pending> arrivals;
  for (int rank = 0; rank < layout.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (layout.cluster_of(rank) == here || in_sizes[r] == 0) continue;
    arrivals.push_back(party.recv(rank, kTagAlltoall, in.subspan(to[r], in_sizes[r])));
  }
  const std::vector<int> ranks = receivers(party);
  std::deque<Pending> sends;
  std::size_t next = 0;
  const auto fill = [&] {
    for (; next < ranks.size() && sends.size() < kUnderWay; ++next) {
      const auto r = static_cast<std::size_t>(ranks[next]);
      if (out_sizes[r] == 0) continue;
      sends.push_back(party.send(ranks[next], kTagAlltoall, out.subspan(from[r], out_sizes[r])));
    }
  };
  fill();
  const auto members = layout.members(here);
  std::vector<ConstBytes> blocks;
  std::vector<Bytes> places;
  for (const int rank : members) {
    const auto r = static_cast<std::size_t>(rank);
    blocks.push_back(out.subspan(from[r], out_sizes[r]));
    places.push_back(in.subspan(to[r], in_sizes[r]));
  }
  const auto me = static_cast<std::size_t>(my_index(party));
  copy(blocks[me], places[me]);
  std::vector<Pending> within = receive_from_members(party, places, kTagAlltoall);
  co_await send_to_members(party, std::move(blocks), kTagAlltoall);
  while (!sends.empty()) {
    co_await sends.front();
    sends.pop_front();
    fill();
  }
  for (auto& p : arrivals) co_await p;
  for (auto& p : within) co_await p;
}

double cost_alltoall_direct(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  constexpr double kHeaders = 80;  // of each message
  const double far_bytes = (shape.bytes / shape.ranks + kHeaders) * shape.members * shape.members;
  // Each message goes to another process, and finds it at rest. In one room no delay hides that
  // time, so the cost of a stream includes it.
  const Network& network = setting.network;
  const double each =
      network.one_host ? network.message_cost : std::max(network.message_cost, network.stream_cost);
  return 2 * (shape.ranks - 1) * each + queueing(network, shape.members * shape.members) +
         opening(network, shape.ranks - shape.members) +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes);
}

extern const Algorithm kAlltoallDirect{Kind::Alltoall,       "direct",        kNothing, kNone,
                                       cost_alltoall_direct, alltoall_direct, ""};

}  // namespace isthmus::coll
