#include "coll/patterns/fan.hpp"

#include <algorithm>

#include "coll/engine/cost.hpp"

namespace isthmus::coll {

void receive_from_leaders(Party& party, int tag, const std::function<Bytes(int cluster)>& place,
                          std::vector<Pending>& pending, bool empty_too) {
  const Layout& layout = party.layout();
  for (int c = 0; c < layout.clusters(); ++c) {
    const Bytes data = place(c);
    if (layout.leader(c) == party.rank() || (data.empty() && !empty_too)) continue;
    pending.push_back(party.recv(layout.leader(c), tag, data));
  }
}

Task fan_in(Party& party, ConstBytes mine, Bytes own, Sizes local, int tag, bool empty_too) {
  const auto members = party.layout().members(my_cluster(party));
  std::vector<Pending> pending;
  if (is_leader(party)) {
    const Sizes starts = offsets_of(local);
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (local[i] == 0 && !empty_too) continue;
      pending.push_back(party.recv(members[i], tag, own.subspan(starts[i], local[i])));
    }
    copy(mine, own);
  } else if (!mine.empty() || empty_too) {
    pending.push_back(party.send(members.front(), tag, mine));
  }
  for (auto& p : pending) co_await p;
}

void fan_out(Party& party, int tag, const std::function<ConstBytes(int rank)>& of,
             std::vector<Pending>& pending, bool empty_too) {
  if (!is_leader(party)) return;
  const Layout& layout = party.layout();
  const auto send_to = [&](int cluster) {
    for (const int rank : layout.members(cluster)) {
      const ConstBytes data = of(rank);
      if (rank == party.rank() || (data.empty() && !empty_too)) continue;
      pending.push_back(party.send(rank, tag, data));
    }
  };
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c != my_cluster(party)) send_to(c);
  }
  send_to(my_cluster(party));
}

double cost_of_fan(const Setting& setting, double in, double out) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const int far = setting.layout.size() - members;
  const double cost = std::min(network.stream_cost, network.message_cost);
  const double messages = cost * (members - 1 + setting.layout.size() - 1);
  const double at_leader = in * (members - 1) / network.link_bandwidth;
  return network.link_latency + network.message_cost + messages + queueing(network, far) +
         opening(network, far) + at_leader +
         all_at_once(setting, out * (setting.layout.size() - 1), out * far);
}

}  // namespace isthmus::coll
